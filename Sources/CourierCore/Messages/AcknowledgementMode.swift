/// Selects when a reader's messages of QoS 1 and 2 are acknowledged to the broker.
public enum AcknowledgementMode: Hashable, Sendable {
    /// A message is acknowledged as soon as the client receives it.
    ///
    /// If the process ends, its received and unread messages are lost, even with a message store. The store holds only
    /// messages without a reader.
    ///
    /// If a reader ends, its unread messages are kept for the next reader, like messages without a reader. An unread
    /// message that several readers received is not kept.
    case onReceipt

    /// A message is acknowledged when its loop requests the next message, or earlier by ``Message/acknowledge()``.
    ///
    /// If the loop is left before that, the message goes to the next reader of its topic, or arrives again with the
    /// next connection. If neither happens within ten seconds and `maximumKeptMessages` leaves room, the client keeps
    /// the message and acknowledges it. The message then waits for a reader in the message store, or in memory until
    /// the process ends.
    ///
    /// If several readers with this mode receive a message, it is acknowledged when the last of them has finished it.
    /// Acknowledgements are sent in the order of the messages [MQTT-4.6.0-2], so one slow message delays the
    /// acknowledgements of all later messages.
    case afterProcessing
}
