from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # A big table goes on being written meanwhile.
    atomic = False

    dependencies = [
        ('chatplatform', '0002_training_stages'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'dead')), fields=['name'], name='job_dead'),
        ),
    ]
