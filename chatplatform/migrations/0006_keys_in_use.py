"""Which keys secrets may be stored with: a process without one of them does not start."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('chatplatform', '0005_ended_jobs')]

    operations = [
        migrations.CreateModel(
            name='KeyInUse',
            fields=[
                ('fingerprint', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
    ]
