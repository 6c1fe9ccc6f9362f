/// The rule of MQTT for every text that is sent.
enum WireText {
    /// The longest text in bytes of UTF-8: the length field has two bytes (1.5.4).
    static let limit = 65_535

    /// What is wrong with a text, as the end of a sentence that starts with its name; `nil` when nothing is.
    static func problem(_ text: String) -> String? {
        let count = text.utf8.count
        if count > limit { return "has \(count) bytes of UTF-8; at most \(limit) are allowed" }
        if text.utf8.contains(0) { return "contains U+0000, which MQTT does not allow" }  // [MQTT-1.5.4-2]
        return nil
    }
}
