/// When a reader's messages of QoS 1 and 2 are acknowledged to the broker.
public enum AcknowledgementMode: Hashable, Sendable {
    /// As soon as the client has them. A process that dies with messages it has not read has lost them, also with a
    /// message store, which has only what came while nobody read its topic. What a reader has not come to when it ends
    /// is kept for the next one, as what comes without a reader is, unless another reader was given it.
    case onReceipt

    /// When the loop that reads them asks for the next one, or earlier by ``Message/acknowledge()``. A message whose
    /// loop is left before that goes to the next reader of its topic, or comes again with the next connection. When
    /// neither happens within ten seconds it is acknowledged, if `maximumKeptMessages` leaves room to keep it, and waits
    /// for a reader: in the message store, or as long as the process lives.
    ///
    /// A message that several such readers get is acknowledged when the last of them is done. Acknowledgements go out
    /// in the order of the messages [MQTT-4.6.0-2], so one slow message holds back those behind it.
    case afterProcessing
}
