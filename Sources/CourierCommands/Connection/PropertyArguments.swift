import CommandArguments
package import CourierCore
import Foundation

/// The MQTT 5 properties of `-D`, grouped by packet.
package struct PropertyArguments: Sendable {
    /// The packets that accept properties.
    package enum Command: String, CaseIterable, Sendable {
        case connect, publish, subscribe, unsubscribe, disconnect, auth, will, puback, pubrec, pubrel, pubcomp
    }

    /// The properties of CONNECT.
    package struct Connect: Sendable {
        package var receiveMaximum: UInt16?
        package var maximumPacketSize: UInt32?
        package var sessionExpiry: UInt32?
        package var topicAliasMaximum: UInt16?
        package var requestsProblemInformation: Bool?
        package var requestsResponseInformation: Bool?
        package var userProperties: [MessageProperties.UserProperty] = []
        package var authenticationMethod: String?
        package var authenticationData: String?
    }

    /// The properties of SUBSCRIBE.
    package struct Subscribe: Sendable {
        package var identifier: UInt32?
        package var userProperties: [MessageProperties.UserProperty] = []
    }

    /// The properties of DISCONNECT.
    package struct Disconnect: Sendable {
        package var sessionExpiry: UInt32?
        package var reasonString: String?
        package var userProperties: [MessageProperties.UserProperty] = []
    }

    /// A property that an option of the command line has set. `number` is its numeric value; 0 if its value is a text.
    private struct Given: Sendable {
        let command: Command
        let name: String
        let number: Int
    }

    package var connect = Connect()
    package var publish = MessageProperties()
    /// The topic alias of the messages; `nil` lets the client choose.
    package var topicAlias: UInt16?
    package var subscribe = Subscribe()
    /// The user properties of UNSUBSCRIBE.
    package var unsubscribe: [MessageProperties.UserProperty] = []
    package var disconnect = Disconnect()
    package var will = MessageProperties()
    package var willDelay = Duration.zero
    private var given: [Given] = []

    /// Returns the number of words that belong to a `-D`: packet, name and value. `user-property` has two values.
    static func wordCount(_ words: ArraySlice<String>) -> Int {
        guard words.count > 2, Command(rawValue: words[words.startIndex].lowercased()) != nil else { return 3 }
        return words[words.startIndex + 1].lowercased() == "user-property" ? 4 : 3
    }
}

extension PropertyArguments {
    /// The type of a property's value.
    private enum Kind {
        case byte, short, long, variable, binary, text, pair
    }

    /// The names of the properties in the mosquitto clients. `commands` are the packets in which MQTT allows the
    /// property (MQTT 5.0 §2.2.2.2).
    private static let known: KeyValuePairs<String, (kind: Kind, commands: [Command])> = [
        "payload-format-indicator": (.byte, [.publish, .will]),
        "message-expiry-interval": (.long, [.publish, .will]),
        "content-type": (.text, [.publish, .will]),
        "response-topic": (.text, [.publish, .will]),
        "correlation-data": (.binary, [.publish, .will]),
        "subscription-identifier": (.variable, [.publish, .subscribe]),
        "session-expiry-interval": (.long, [.connect, .disconnect]),
        "assigned-client-identifier": (.text, []),
        "server-keep-alive": (.short, []),
        "authentication-method": (.text, [.connect, .auth]),
        "authentication-data": (.binary, [.connect, .auth]),
        "request-problem-information": (.byte, [.connect]),
        "will-delay-interval": (.long, [.will]),
        "request-response-information": (.byte, [.connect]),
        "response-information": (.text, []),
        "server-reference": (.text, [.disconnect]),
        "reason-string": (.text, [.puback, .pubrec, .pubrel, .pubcomp, .disconnect, .auth]),
        "receive-maximum": (.short, [.connect]),
        "topic-alias-maximum": (.short, [.connect]),
        "topic-alias": (.short, [.publish]),
        "maximum-qos": (.byte, []),
        "retain-available": (.byte, []),
        "user-property": (.pair, Command.allCases),
        "maximum-packet-size": (.long, [.connect]),
        "wildcard-subscription-available": (.byte, []),
        "subscription-identifier-available": (.byte, []),
        "shared-subscription-available": (.byte, []),
    ]

    /// The largest subscription identifier (MQTT 5.0 §3.8.2.1.2).
    private static let largestIdentifier = 268_435_455

    /// Adds the property in the words after `-D`.
    ///
    /// - Throws: ``ArgumentError`` and ``StartFailure`` in the words of the mosquitto clients.
    mutating func add(_ words: [String]) throws {
        let (command, name) = (words[0], words[1])
        guard let packet = Command(rawValue: command.lowercased()) else {
            throw ArgumentError("Invalid command given in --property argument.", blankLines: 2)
        }
        guard let property = Self.known.first(where: { $0.key == name.lowercased() }) else {
            throw ArgumentError("Invalid property name given in --property argument.", blankLines: 2)
        }
        guard property.value.commands.contains(packet) else {
            throw ArgumentError(
                "\(name) property not allowed for \(command) in --property argument.", blankLines: 2)
        }
        guard Self.isSupported(property.key, packet) else {
            throw ArgumentError(
                "\(name) property not supported for \(command) in --property argument.", blankLines: 2)
        }
        let number = try Self.number(words[2], property.value.kind, name)
        try Self.checkTexts(words[2...], property.value.kind, name)
        given.append(Given(command: packet, name: property.key, number: number))
        let values = Array(words[2...])
        switch packet {
        case .connect: addToConnect(property.key, values, number)
        case .publish where property.key == "topic-alias": topicAlias = UInt16(number)
        case .publish: Self.add(property.key, values, number, to: &publish)
        case .subscribe where property.key == "subscription-identifier": subscribe.identifier = UInt32(number)
        case .subscribe: subscribe.userProperties.append(.init(values[0], values[1]))
        case .unsubscribe: unsubscribe.append(.init(values[0], values[1]))
        case .disconnect: addToDisconnect(property.key, values, number)
        case .will where property.key == "will-delay-interval": willDelay = .seconds(number)
        case .will: Self.add(property.key, values, number, to: &will)
        case .auth, .puback, .pubrec, .pubrel, .pubcomp: break  // `isSupported` has excluded these packets.
        }
    }

    /// Whether a client may send this property in this packet.
    private static func isSupported(_ name: String, _ packet: Command) -> Bool {
        switch packet {
        case .auth, .puback, .pubrec, .pubrel, .pubcomp: false
        case .publish: name != "subscription-identifier"  // [MQTT-3.3.4-6]
        case .disconnect: name != "server-reference"  // Only a server sends this property (MQTT 5.0 §3.14.2.2.5).
        case .connect, .subscribe, .unsubscribe, .will: true
        }
    }

    /// Checks the texts of a property. The error message contains the property's name and the number of its type, as in
    /// the mosquitto clients.
    private static func checkTexts(_ texts: ArraySlice<String>, _ kind: Kind, _ name: String) throws(StartFailure) {
        let type: Int
        switch kind {
        case .byte, .short, .long, .variable, .binary: return
        case .text: type = 6
        case .pair: type = 7
        }
        guard texts.contains(where: MalformedText.isFound) else { return }
        throw StartFailure("Error adding property \(name) \(type)", showsUsage: true)
    }

    private static func number(_ text: String, _ kind: Kind, _ name: String) throws -> Int {
        let limit: Int
        switch kind {
        case .byte: limit = 255
        case .short: limit = 65_535
        case .long, .variable: limit = Int(UInt32.max)
        case .binary:
            guard text.utf8.count <= 65_535 else {
                throw ArgumentError("Property value too long for property \(name).", blankLines: 2)
            }
            return 0
        case .text, .pair: return 0
        }
        let number = NumberText.whole(text)
        guard (0...limit).contains(number) else {
            throw ArgumentError("Property value (\(number)) out of range for property \(name).", blankLines: 2)
        }
        if case .variable = kind, number > largestIdentifier {
            throw StartFailure("Error adding property \(name) 4", showsUsage: true)
        }
        return number
    }

    private mutating func addToConnect(_ name: String, _ values: [String], _ number: Int) {
        switch name {
        case "session-expiry-interval": connect.sessionExpiry = UInt32(number)
        case "receive-maximum": connect.receiveMaximum = UInt16(number)
        case "maximum-packet-size": connect.maximumPacketSize = UInt32(number)
        case "topic-alias-maximum": connect.topicAliasMaximum = UInt16(number)
        case "request-problem-information": connect.requestsProblemInformation = number != 0
        case "request-response-information": connect.requestsResponseInformation = number != 0
        case "authentication-method": connect.authenticationMethod = values[0]
        case "authentication-data": connect.authenticationData = values[0]
        default: connect.userProperties.append(.init(values[0], values[1]))
        }
    }

    private mutating func addToDisconnect(_ name: String, _ values: [String], _ number: Int) {
        switch name {
        case "session-expiry-interval": disconnect.sessionExpiry = UInt32(number)
        case "reason-string": disconnect.reasonString = values[0]
        default: disconnect.userProperties.append(.init(values[0], values[1]))
        }
    }

    private static func add(
        _ name: String, _ values: [String], _ number: Int, to properties: inout MessageProperties
    ) {
        switch name {
        case "payload-format-indicator": properties.payloadFormat = number == 0 ? .unspecified : .utf8
        case "message-expiry-interval": properties.messageExpiry = .seconds(number)
        case "content-type": properties.contentType = values[0]
        case "response-topic": properties.responseTopic = values[0]
        case "correlation-data": properties.correlationData = Data(values[0].utf8)
        default: properties.userProperties.append(.init(values[0], values[1]))
        }
    }

    // MARK: Checks of all properties

    /// Records a property that an option other than `-D` sets, so that `problem` detects a duplicate.
    mutating func use(_ name: String, in command: Command) {
        given.append(Given(command: command, name: name, number: 1))
    }

    /// The error message of the mosquitto clients about a duplicate property, or about a value that MQTT does not
    /// allow. It is `nil` if all properties are valid.
    var problem: String? {
        for (command, title) in Self.titles {
            let properties = given.filter { $0.command == command }
            var names: Set<String> = []
            for property in properties {
                if !Self.isAllowed(property) {
                    return "Error in \(title) properties: "
                        + "A network protocol error occurred when communicating with the broker."
                }
                if property.name != "user-property", !names.insert(property.name).inserted {
                    return "Error in \(title) properties: Duplicate property in property list"
                }
            }
        }
        return nil
    }

    private static let titles: KeyValuePairs<Command, String> = [
        .connect: "CONNECT", .publish: "PUBLISH", .subscribe: "SUBSCRIBE", .unsubscribe: "UNSUBSCRIBE",
        .disconnect: "DISCONNECT", .will: "Will",
    ]

    private static func isAllowed(_ property: Given) -> Bool {
        switch property.name {
        case "request-problem-information", "request-response-information": property.number <= 1
        case "receive-maximum", "maximum-packet-size", "topic-alias": property.number > 0
        default: true
        }
    }
}
