/// Selects when a reader's messages of QoS 1 and 2 are acknowledged to the broker.
public enum AcknowledgementMode: Hashable, Sendable {
    /// A message is acknowledged as soon as the client receives it.
    ///
    /// If the process ends, messages that were received but not read are lost, even with a message store. The store
    /// contains only messages without a reader.
    ///
    /// If a reader ends, the client keeps its unread messages for the next reader of their topics. An unread message
    /// that the client passed to several readers is not kept. Without `messagePersistenceTTLSeconds`, the client
    /// neither keeps nor reports unread retained messages, because the broker still has them. So a newer reader does
    /// not get the same retained message twice.
    case onReceipt

    /// A message is acknowledged when the loop that reads it requests the next message, or earlier by
    /// ``Message/acknowledge()``.
    ///
    /// If the loop is left earlier, the message goes to the next reader of its topic, or arrives again with the next
    /// connection. If neither happens within ten seconds, the client keeps the message and acknowledges it, if
    /// `maximumKeptMessages` permits. A kept message waits for a reader in the message store. Without a store, it waits
    /// in memory until the process ends.
    ///
    /// If several readers with this mode receive a message, it is acknowledged when the last of these readers has
    /// finished it. Acknowledgements are sent in the order of the messages [MQTT-4.6.0-2], so one slow message delays
    /// the acknowledgements of all later messages.
    case afterProcessing
}
