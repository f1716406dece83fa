from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # A big table goes on being written meanwhile.
    atomic = False

    dependencies = [
        ('identity', '0003_rate_limits'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='creditentry',
            index=models.Index(condition=models.Q(('key__isnull', False)), fields=['key', 'created_at'], name='credit_of_key'),
        ),
    ]
