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
}  # fmt: skip
