"""The models of conversations and of everything that belongs to them."""

from chats.models.attachment import ATTACHMENT_PATH, ATTACHMENT_SALT, Attachment
from chats.models.conversation import (
    AssignType,
    Conversation,
    LockedConversation,
    Priority,
    ReplyScope,
    Status,
)
from chats.models.customer import Customer, CustomerErasure, ErasureStatus, OptOut
from chats.models.feedback import Feedback, Thumb
from chats.models.message import (
    NO_ANSWER,
    UNANSWERED,
    Message,
    MessageStatus,
    SenderType,
    text_content,
)
from chats.models.notification import Notification, NotificationKind
from chats.models.push_subscription import PushSubscription
from chats.models.question_group import GroupedQuestion, GroupStatus, QuestionGroup
from chats.models.replay import Replay, ReplayChange, ReplayedReply, ReplayStatus
from chats.models.saved_reply import SavedReply
from chats.models.summary import Summary, SummaryJob, SummaryJobStatus
from chats.models.tag import ClientTag, Tagging, TagSource

__all__ = [
    "ATTACHMENT_PATH",
    "ATTACHMENT_SALT",
    "AssignType",
    "Attachment",
    "ClientTag",
    "Conversation",
    "Customer",
    "CustomerErasure",
    "ErasureStatus",
    "Feedback",
    "GroupStatus",
    "GroupedQuestion",
    "LockedConversation",
    "Message",
    "MessageStatus",
    "NO_ANSWER",
    "Notification",
    "OptOut",
    "NotificationKind",
    "Priority",
    "PushSubscription",
    "QuestionGroup",
    "Replay",
    "ReplayChange",
    "ReplayStatus",
    "ReplayedReply",
    "ReplyScope",
    "SavedReply",
    "SenderType",
    "Status",
    "Summary",
    "SummaryJob",
    "SummaryJobStatus",
    "TagSource",
    "Tagging",
    "Thumb",
    "UNANSWERED",
    "text_content",
]
