"""Questions that customers ask any business, by language.

The mean of their vectors is what questions have in common (`embedding.own_part`). The search's
confidence is fitted with them: if you change them, measure it again (`bench/answer_quality.py`,
`bench/judged_replies.py`).
"""

ANY_QUESTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "What does it cost?", "How long does it take?", "Where can I find it?",
        "Who can help me with this?", "Can I cancel my order?", "How do I contact somebody?",
        "Is it possible to change this later?", "What do I need to know before I begin?",
        "Why does it not work?", "Which one should I choose?", "When are you open?",
        "How do I set this up on my computer?", "What happens if I am late?",
        "I have lost my password, what now?", "Does this also work abroad?",
        "What is the difference between the two?", "Can you send it to my home?",
        "Where do I have to sign?",
    ),
    "vi": (
        "Cái này giá bao nhiêu?", "Mất bao lâu thì xong?", "Tôi có thể tìm ở đâu?",
        "Làm thế nào để liên hệ với nhân viên?", "Tại sao nó không hoạt động?",
        "Tôi có được hủy đơn hàng không?", "Khi nào thì mở cửa?", "Cần chuẩn bị những gì?",
        "Tôi nên chọn loại nào?", "Có thể thay đổi sau này không?",
        "Hai loại này khác nhau thế nào?", "Tôi quên mật khẩu thì phải làm sao?",
    ),
    "de": (
        "Was kostet das?", "Wie lange dauert es?", "Wo finde ich das?",
        "Kann ich meine Bestellung stornieren?", "Warum funktioniert es nicht?",
        "Wann haben Sie geöffnet?", "Wie kann ich das später ändern?",
        "Was ist der Unterschied?", "Wer kann mir helfen?", "Welches soll ich nehmen?",
    ),
    "es": (
        "¿Cuánto cuesta?", "¿Cuánto tiempo tarda?", "¿Dónde puedo encontrarlo?",
        "¿Puedo cancelar mi pedido?", "¿Por qué no funciona?", "¿Cuándo abren?",
        "¿Cómo puedo cambiarlo más tarde?", "¿Cuál es la diferencia?", "¿Quién puede ayudarme?",
        "¿Cuál debo elegir?",
    ),
    "fr": (
        "Combien ça coûte ?", "Combien de temps cela prend-il ?", "Où puis-je le trouver ?",
        "Puis-je annuler ma commande ?", "Pourquoi ça ne marche pas ?", "Quand êtes-vous ouverts ?",
        "Comment puis-je le modifier plus tard ?", "Quelle est la différence ?",
        "Qui peut m'aider ?", "Lequel dois-je choisir ?",
    ),
    "ar": (
        "كم السعر؟", "كم يستغرق ذلك؟", "أين يمكنني أن أجده؟", "هل يمكنني إلغاء طلبي؟",
        "لماذا لا يعمل؟", "متى تفتحون؟", "كيف يمكنني تغييره لاحقا؟", "ما الفرق بينهما؟",
        "من يمكنه مساعدتي؟", "أيها أختار؟",
    ),
    "id": (
        "Berapa harganya?", "Berapa lama waktunya?", "Di mana saya bisa menemukannya?",
        "Bisakah saya membatalkan pesanan?", "Mengapa tidak berfungsi?", "Kapan buka?",
        "Bagaimana cara mengubahnya nanti?", "Apa bedanya?", "Siapa yang bisa membantu saya?",
        "Yang mana sebaiknya saya pilih?",
    ),
    "it": (
        "Quanto costa?", "Quanto tempo ci vuole?", "Dove posso trovarlo?",
        "Posso annullare il mio ordine?", "Perché non funziona?", "Quando siete aperti?",
        "Come posso cambiarlo più tardi?", "Qual è la differenza?", "Chi può aiutarmi?",
        "Quale devo scegliere?",
    ),
    "ja": (
        "いくらですか?", "どのくらい時間がかかりますか?", "どこで見つかりますか?",
        "注文をキャンセルできますか?", "なぜ動かないのですか?", "いつ開いていますか?",
        "後で変更するにはどうすればいいですか?", "違いは何ですか?", "誰に相談できますか?",
        "どれを選べばいいですか?",
    ),
    "ko": (
        "얼마예요?", "얼마나 걸리나요?", "어디에서 찾을 수 있나요?", "주문을 취소할 수 있나요?",
        "왜 작동하지 않나요?", "언제 문을 여나요?", "나중에 어떻게 바꿀 수 있나요?",
        "차이가 뭐예요?", "누가 도와줄 수 있나요?", "어떤 것을 골라야 하나요?",
    ),
    "nl": (
        "Wat kost het?", "Hoe lang duurt het?", "Waar kan ik het vinden?",
        "Kan ik mijn bestelling annuleren?", "Waarom werkt het niet?", "Wanneer zijn jullie open?",
        "Hoe kan ik dat later wijzigen?", "Wat is het verschil?", "Wie kan mij helpen?",
        "Welke moet ik kiezen?",
    ),
    "pl": (
        "Ile to kosztuje?", "Jak długo to trwa?", "Gdzie mogę to znaleźć?",
        "Czy mogę anulować zamówienie?", "Dlaczego to nie działa?", "Kiedy jest otwarte?",
        "Jak mogę to później zmienić?", "Jaka jest różnica?", "Kto może mi pomóc?",
        "Który mam wybrać?",
    ),
    "pt": (
        "Quanto custa?", "Quanto tempo demora?", "Onde posso encontrar?",
        "Posso cancelar o meu pedido?", "Por que não funciona?", "Quando abrem?",
        "Como posso mudar isso depois?", "Qual é a diferença?", "Quem pode me ajudar?",
        "Qual devo escolher?",
    ),
    "ru": (
        "Сколько это стоит?", "Сколько времени это займёт?", "Где это найти?",
        "Можно ли отменить заказ?", "Почему это не работает?", "Когда вы открыты?",
        "Как изменить это позже?", "В чём разница?", "Кто может мне помочь?", "Что мне выбрать?",
    ),
    "th": (
        "ราคาเท่าไหร่", "ใช้เวลานานเท่าไร", "หาได้ที่ไหน", "ยกเลิกคำสั่งซื้อได้ไหม",
        "ทำไมใช้งานไม่ได้", "เปิดเมื่อไร", "เปลี่ยนภายหลังได้อย่างไร", "ต่างกันอย่างไร",
        "ใครช่วยฉันได้บ้าง", "ควรเลือกแบบไหน",
    ),
    "tr": (
        "Ne kadar?", "Ne kadar sürer?", "Nerede bulabilirim?", "Siparişimi iptal edebilir miyim?",
        "Neden çalışmıyor?", "Ne zaman açıksınız?", "Bunu daha sonra nasıl değiştirebilirim?",
        "Aradaki fark nedir?", "Kim bana yardım edebilir?", "Hangisini seçmeliyim?",
    ),
    "uk": (
        "Скільки це коштує?", "Скільки часу це займе?", "Де це знайти?",
        "Чи можу я скасувати замовлення?", "Чому це не працює?", "Коли ви відчинені?",
        "Як змінити це пізніше?", "У чому різниця?", "Хто може мені допомогти?",
        "Що мені вибрати?",
    ),
    "zh": (
        "多少钱?", "需要多长时间?", "在哪里可以找到?", "我可以取消订单吗?", "为什么不能用?",
        "你们什么时候营业?", "以后怎么更改?", "有什么区别?", "谁可以帮我?", "我应该选哪个?",
    ),
}  # fmt: skip
