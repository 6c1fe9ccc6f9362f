/// The rules for the texts that a client may send to the broker.
///
/// The texts are topic names, topic filters, the client id, the user name and the texts of MQTT 5 properties. Received
/// texts are not restricted.
public enum TextPolicy: Hashable, Sendable {
    /// Texts that every common broker accepts:
    /// - no control characters (U+0001 to U+001F, U+007F to U+009F);
    /// - no non-characters (U+FDD0 to U+FDEF, and the last two code points of each plane);
    /// - at most 201 topic levels.
    ///
    /// A call with any other text throws an error, because mosquitto and FlashMQ end the connection for such texts.
    case portable
    /// Every text that MQTT allows. Only some brokers accept all of them.
    case anyLegal
}
