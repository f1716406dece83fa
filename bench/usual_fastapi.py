"""The same operations in the style of FastAPI's documentation: SQLAlchemy's async ORM, pydantic.

The columns that the operations write and show are mapped by hand.
"""

import hashlib
import hmac
import os
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict
from sqlalchemy import ForeignKey, func, select
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, joinedload, mapped_column, relationship
from sqlalchemy.types import DateTime, Text

PEPPER = hmac.digest(os.environ["SECRET_KEY"].encode(), b"chatplatform.hash_secret", "sha256")
URL = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://").replace(
    "postgres://", "postgresql+asyncpg://"
)  # fmt: skip
engine = create_async_engine(URL, pool_size=16, max_overflow=0)
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own spelling
        datetime: DateTime(timezone=True), dict[str, Any]: JSONB, list[Any]: JSONB, str: Text,
        list[str]: ARRAY(Text),
    }  # fmt: skip


class ApiKey(Base):
    __tablename__ = "identity_apikey"
    id: Mapped[int] = mapped_column(primary_key=True)
    client_id: Mapped[int]
    prefix: Mapped[str]
    secret_hash: Mapped[str]
    revoked_at: Mapped[datetime | None]


class Customer(Base):
    __tablename__ = "chats_customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    external_id: Mapped[str | None]
    name: Mapped[str]
    email: Mapped[str]
    phone: Mapped[str]
    avatar_url: Mapped[str]
    attributes: Mapped[dict[str, Any]]


class Message(Base):
    __tablename__ = "chats_message"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    client_id: Mapped[int]
    conversation_id: Mapped[uuid.UUID]
    seq: Mapped[int]
    sender_type: Mapped[str]
    sender_id: Mapped[str | None]
    sender_name: Mapped[str] = mapped_column(default="")
    content: Mapped[list[Any]]
    text: Mapped[str] = mapped_column(default="")
    citations: Mapped[list[Any]] = mapped_column(default=list)
    translations: Mapped[dict[str, Any]] = mapped_column(default=dict)
    # SQLAlchemy reserves the name `metadata`.
    free: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    status: Mapped[str] = mapped_column(default="sent")
    error: Mapped[str | None]
    in_reply_to_id: Mapped[uuid.UUID | None]
    is_note: Mapped[bool] = mapped_column(default=False)
    is_welcome: Mapped[bool] = mapped_column(default=False)
    client_message_id: Mapped[str | None]
    provider_message_id: Mapped[str | None]
    language: Mapped[str] = mapped_column(default="en")
    customer_reaction: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    delivered_at: Mapped[datetime | None]
    read_at: Mapped[datetime | None]


class Conversation(Base):
    __tablename__ = "chats_conversation"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    client_id: Mapped[int]
    bot_id: Mapped[int]
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id))
    chat_code: Mapped[str]
    channel: Mapped[str]
    status: Mapped[str]
    assign_type: Mapped[str]
    is_preview: Mapped[bool]
    version: Mapped[int]
    language: Mapped[str]
    tags: Mapped[list[str]]
    last_seq: Mapped[int]
    last_event_seq: Mapped[int]
    message_count: Mapped[int]
    unread_count: Mapped[int]
    last_message_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey(Message.id))
    last_message_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    customer: Mapped[Customer] = relationship()
    last_message: Mapped[Message | None] = relationship()


class Event(Base):
    __tablename__ = "webhooks_event"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    client_id: Mapped[int]
    type: Mapped[str]
    conversation_id: Mapped[uuid.UUID]
    sequence: Mapped[int]
    data: Mapped[dict[str, Any]]


class Unnumbered(Base):
    __tablename__ = "webhooks_unnumberedevent"
    event_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    client_id: Mapped[int]


class Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class CustomerShown(Shown):
    external_id: str | None
    name: str
    email: str
    phone: str
    avatar_url: str
    attributes: dict[str, Any]


class MessageShown(Shown):
    id: uuid.UUID
    conversation_id: uuid.UUID
    seq: int
    sender_type: str
    sender_id: str | None
    sender_name: str
    content: list[Any]
    citations: list[Any]
    status: str
    error: str | None
    in_reply_to_id: uuid.UUID | None
    is_note: bool
    client_message_id: str | None
    provider_message_id: str | None
    language: str
    created_at: datetime
    delivered_at: datetime | None
    read_at: datetime | None


class ChatShown(Shown):
    id: uuid.UUID
    chat_code: str
    bot_id: int
    channel: str
    status: str
    assign_type: str
    version: int
    language: str
    tags: list[str]
    message_count: int
    unread_count: int
    customer: CustomerShown
    last_message: MessageShown | None
    last_message_at: datetime | None
    created_at: datetime


class NewMessage(BaseModel):
    text: str
    reply: str = "none"


async def session() -> AsyncIterator[AsyncSession]:
    async with sessions() as opened:
        yield opened


Session = Annotated[AsyncSession, Depends(session)]


async def api_key(db: Session, api_key: Annotated[str, Header()]) -> ApiKey:
    prefix, _, secret = api_key.partition(".")
    key: ApiKey | None = await db.scalar(
        select(ApiKey).where(ApiKey.prefix == prefix, ApiKey.revoked_at.is_(None))
    )
    hashed = hmac.new(PEPPER, secret.encode(), hashlib.sha256).hexdigest()
    if key is None or not hmac.compare_digest(key.secret_hash, hashed):
        raise HTTPException(401)
    return key


Key = Annotated[ApiKey, Depends(api_key)]
app = FastAPI()


@app.post("/post/none/{chat_id}")
async def post(chat_id: uuid.UUID, body: NewMessage, db: Session, key: Key) -> MessageShown:
    chat = await db.scalar(
        select(Conversation)
        .where(Conversation.id == chat_id, Conversation.client_id == key.client_id)
        .with_for_update()
    )
    if chat is None:
        raise HTTPException(404)
    chat.last_seq += 1
    chat.last_event_seq += 1
    chat.message_count += 1
    chat.unread_count += 1
    chat.last_message_at = datetime.now(UTC)
    message = Message(
        id=uuid.uuid4(), client_id=key.client_id, conversation_id=chat.id, seq=chat.last_seq,
        sender_type="customer", sender_id=str(chat.customer_id), text=body.text,
        content=[{"type": "text", "text": body.text}], created_at=chat.last_message_at,
    )  # fmt: skip
    chat.last_message_id = message.id
    event = Event(
        id=uuid.uuid4(), client_id=key.client_id, type="message.created", conversation_id=chat.id,
        sequence=chat.last_event_seq, data={"message": message.content},
    )  # fmt: skip
    db.add_all([message, event, Unnumbered(event_id=event.id, client_id=key.client_id)])
    await db.commit()
    return MessageShown.model_validate(message)


@app.get("/list/{chat_id}")
async def messages(chat_id: uuid.UUID, db: Session, key: Key, after: int = 0) -> list[MessageShown]:
    rows = await db.scalars(
        select(Message)
        .where(
            Message.client_id == key.client_id, Message.conversation_id == chat_id,
            Message.is_note.is_(False), Message.seq > after,
        )
        .order_by(Message.seq)
        .limit(50)
    )  # fmt: skip
    return [MessageShown.model_validate(row) for row in rows]


@app.get("/chats")
async def chats(db: Session, key: Key) -> list[ChatShown]:
    activity = func.coalesce(Conversation.last_message_at, Conversation.created_at)
    rows = await db.scalars(
        select(Conversation)
        .options(joinedload(Conversation.customer), joinedload(Conversation.last_message))
        .where(Conversation.client_id == key.client_id, Conversation.is_preview.is_(False))
        .order_by(activity.desc(), Conversation.id.desc())
        .limit(50)
    )
    return [ChatShown.model_validate(row) for row in rows]


@app.get("/health/live")
async def live() -> str:
    return "ok"
