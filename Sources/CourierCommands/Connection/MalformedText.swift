import CommandArguments
import CourierCore

/// Checks the texts of options in the same way as the mosquitto clients.
enum MalformedText {
    /// True if the text is too long for MQTT, or contains characters for which brokers may end the connection.
    static func isFound(in text: String) -> Bool { text.utf8.count > 65_535 || !PortableText.isPortable(text) }

    /// Checks a topic name or filter.
    ///
    /// - Parameters:
    ///   - text: The topic name or filter.
    ///   - argument: The option that it belongs to, such as `-t`.
    /// - Throws: ``ArgumentError`` in the words of the mosquitto clients.
    static func check(_ text: String, of argument: String) throws(ArgumentError) {
        guard isFound(in: text) else { return }
        throw ArgumentError("Malformed UTF-8 in \(argument) argument.", blankLines: 2)
    }
}
