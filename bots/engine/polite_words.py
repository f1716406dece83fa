"""What stands around an answer and claims nothing: words and sentences, in several languages."""

# What says little of a matter, by the first letters: the days of the week, that something costs,
# and what polite sentences around an answer are made of.
WORDS = tuple(
    """
    monda tuesd wedne thurs frida satur sunda weeke monta diens mittw donne freit samst sonnt woche
    lundi mardi mercr jeudi vendr samed diman lunes marte mierc jueve viern sabad domin luned giove
    vener sabat domen maand dinsd woens vrijd zater zonda terca quart quint понед вторн среда среду
    четве пятни суббо воскр
    cost costs pay paid price koste preis zahle bezah coûte payer paie paien prix cuest pagar paga
    preci custa preço costa prezz kost prijs betal стоит стоим плати цена
    unfor leide malhe lamen infel purtr helaa сожал
    addit apolo appre assis assur clari detai enjoy furth glad grate hesit incon inqui kindl patie
    provi queri reach regar reque respo suppo under welco
    anlie ander antwo bedau behil frage freue gerne gedul helfe hilfe konta kunde melde unter verfü
    verst weite wende zöger
    amabl apoya atenc ayuda bienv conse conta corte desea desee dispo duda dudas encan excel grati
    infor lamen moles pacie placi pregu servi trans
    aider aimab assis autre bienv compl conna cordi dispo hésit infor insta merci plais quest remer
    renseig service souha votre
    acord aiuta aiuto assis bisog contat dispo dubbi esita grazi ulter vostr
    agrad ajuda atend desej dúvid espero gosta obrig prazer
    aarze bedan bereik graag helpen hulp verde vrage vragen
    благо готов допол желаю здрав извин инфор искре испол консу конта настр неудо обращ оказа
    остал ответ подде подро пожал поним помог помощ понад прино приня приве прият радос рады
    разоб свяжи служб сотру терпе увере удово уточн хорош
    أسئلة استفس الأسئ الاست الازع الإزع التفا التوا الرجا السلا المزي المسا المعل أهلا إضافي
    بشدة بطرح بمزيد بمساع تتردد تحية تعاون تفضل تفهمك تواصل توضيح جزيلا خدمتك دائما سؤالك سعداء
    سعيد سعيدا شكرا صبرك عليكم لتواص للتوا لمساع مرحبا مساعد مفيدة موفقا نتمنى نشكرك نعتذر نقدر
    وبركا وتعاو وثقتك ورحمة وسهلا وموفق ونقدر يرجى يسرنا يسعدن
    """.split()  # noqa: SIM905 - easier to read
)
SENTENCES = (
    "I am happy to help you.", "Thank you for your question.", "Thank you for your patience.",
    "Is there anything else I can do for you?", "I hope this answers your question.",
    "Please let me know if you have any other questions.", "I am sorry for the inconvenience.",
    "Please contact us if you need help.", "We look forward to seeing you.",
    "Have a nice day!", "Enjoy your stay with us!", "I wish you a pleasant journey.",
    "Good luck and have fun!", "Hello, thank you for your message.", "Could you tell me more?",
    "I have no information about that.", "The documents do not mention it.",
    "Here is a short summary:", "Please note the following:",
)  # fmt: skip
