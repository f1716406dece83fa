// The company's time zone is that of the browser; its staff can change it later.
document.querySelector("[name=timezone]").value = Intl.DateTimeFormat().resolvedOptions().timeZone;
