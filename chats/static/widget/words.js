/** The words of the widget itself. What the bot says comes from the platform, in many more languages. */
const ENGLISH = {
  open: "Open the chat",
  close: "Close the chat",
  unread: "{count} unread",
  menu: "More",
  write: "Write a message",
  send: "Send",
  attach: "Attach files",
  remove: "Remove {name}",
  tooMany: "At most {count} files.",
  tooLarge: "{name} is larger than {size} MB.",
  noFiles: "No files can be sent here.",
  noTranscript: "There is no transcript of this chat.",
  refused: "This could not be sent.",
  offline: "No connection. Your messages wait and are sent when it is back.",
  waiting: "Sending…",
  answering: "{name} is writing",
  sources: "Sources",
  openSource: "Open the source",
  page: "page {page}",
  helpful: "Helpful",
  notHelpful: "Not helpful",
  queued: "Waiting for a person.",
  place: "You are number {place} in the queue.",
  closed: "Nobody is here now.",
  opensAt: "Open again {time}.",
  joined: "You are talking to {name}.",
  end: "End the chat",
  endSure: "End this chat?",
  yes: "Yes, end it",
  no: "No",
  ended: "This chat has ended.",
  another: "Start a new chat",
  howWasIt: "How was it?",
  stars: "{count} of 5",
  comment: "Tell us more (optional)",
  rate: "Send rating",
  thanks: "Thank you!",
  transcript: "Download transcript",
  mail: "Send transcript by mail",
  mailTo: "E-mail address",
  mailed: "The transcript is on its way to {email}.",
  noMail: "No mail can be sent from here.",
  tooMuchMail: "That was sent often enough for today.",
  agree: "I agree",
  terms: "Before we start",
  introduce: "Before we start",
  choose: "Choose…",
  start: "Start chat",
  you: "You",
  questions: "Suggested questions",
  dismiss: "Dismiss",
  file: "File",
  location: "Place: {where}",
  noPicture: "The picture {name} cannot be shown",
};

const VIETNAMESE = {
  open: "Mở khung trò chuyện",
  close: "Đóng khung trò chuyện",
  unread: "{count} tin chưa đọc",
  menu: "Thêm",
  write: "Nhập tin nhắn",
  send: "Gửi",
  attach: "Đính kèm tệp",
  remove: "Bỏ {name}",
  tooMany: "Tối đa {count} tệp.",
  tooLarge: "{name} lớn hơn {size} MB.",
  noFiles: "Không gửi được tệp ở đây.",
  noTranscript: "Cuộc trò chuyện này không có bản lưu.",
  refused: "Không gửi được.",
  offline: "Mất kết nối. Tin nhắn của bạn sẽ được gửi khi có mạng trở lại.",
  waiting: "Đang gửi…",
  answering: "{name} đang trả lời",
  sources: "Nguồn",
  openSource: "Mở nguồn",
  page: "trang {page}",
  helpful: "Hữu ích",
  notHelpful: "Không hữu ích",
  queued: "Đang chờ nhân viên.",
  place: "Bạn ở vị trí thứ {place} trong hàng chờ.",
  closed: "Hiện không có nhân viên trực.",
  opensAt: "Mở lại {time}.",
  joined: "Bạn đang trò chuyện với {name}.",
  end: "Kết thúc trò chuyện",
  endSure: "Kết thúc cuộc trò chuyện này?",
  yes: "Có, kết thúc",
  no: "Không",
  ended: "Cuộc trò chuyện đã kết thúc.",
  another: "Bắt đầu cuộc trò chuyện mới",
  howWasIt: "Bạn thấy thế nào?",
  stars: "{count} trên 5",
  comment: "Góp ý thêm (không bắt buộc)",
  rate: "Gửi đánh giá",
  thanks: "Cảm ơn bạn!",
  transcript: "Tải bản lưu",
  mail: "Gửi bản lưu qua email",
  mailTo: "Địa chỉ email",
  mailed: "Bản lưu đang được gửi đến {email}.",
  noMail: "Không gửi được email từ đây.",
  tooMuchMail: "Hôm nay đã gửi đủ số lần.",
  agree: "Tôi đồng ý",
  terms: "Trước khi bắt đầu",
  introduce: "Trước khi bắt đầu",
  choose: "Chọn…",
  start: "Bắt đầu",
  you: "Bạn",
  questions: "Câu hỏi gợi ý",
  dismiss: "Bỏ qua",
  file: "Tệp",
  location: "Địa điểm: {where}",
  noPicture: "Không hiển thị được ảnh {name}",
};

const CATALOGUES = { en: ENGLISH, vi: VIETNAMESE };
const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]);

const base = (language) => (language || "en").split("-")[0].toLowerCase();

/** Marks that would turn the rest of a sentence round; a person's name may hold them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** The catalogue's function: `t("place", {place: 3})`. */
export function translator(language) {
  const words = CATALOGUES[base(language)] ?? ENGLISH;
  return (name, values = {}) =>
    words[name].replace(/\{(\w+)\}/g, (_, key) => String(values[key]).replace(TURNS, ""));
}

/** The language in which the widget's own words are. */
export const spoken = (language) => (CATALOGUES[base(language)] ? base(language) : "en");

export const direction = (language) => (RIGHT_TO_LEFT.has(base(language)) ? "rtl" : "ltr");
