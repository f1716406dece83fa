from django.db import migrations, models


class Migration(migrations.Migration):
    """New companies have a model confirm its answers; others keep what they chose."""

    dependencies = [
        ('identity', '0013_confirm_answers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='clientconfig',
            name='confirm_answers',
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
