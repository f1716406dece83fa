from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chatplatform', '0006_keys_in_use'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='deaths',
            field=models.PositiveSmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='job',
            name='lease_holder',
            field=models.BigIntegerField(null=True),
        ),
    ]
