// The company gets the time zone of the browser; its owners and admins can change it later.
document.querySelector("[name=timezone]").value = Intl.DateTimeFormat().resolvedOptions().timeZone;
