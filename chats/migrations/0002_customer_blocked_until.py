"""A customer can be blocked; the function that receives messages leaves theirs to Python.

It cannot be taken back: the file holds the function as it is now.
"""

from pathlib import Path

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('chats', '0001_initial')]

    operations = [
        migrations.AddField(
            model_name='customer',
            name='blocked_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(Path(__file__).with_name('0001_receive_message.sql').read_text()),
    ]
