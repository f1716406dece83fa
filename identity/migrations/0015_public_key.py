from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("identity", "0014_confirm_answers_at_first")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="public_key",
            field=models.CharField(blank=True, db_default="", max_length=100),
        ),
    ]
