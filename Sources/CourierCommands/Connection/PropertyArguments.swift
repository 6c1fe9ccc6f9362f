import CommandArguments
package import CourierCore
import Foundation

/// The properties of MQTT 5 that `-D` names, by the packet they belong to.
package struct PropertyArguments: Sendable {
    /// The packets whose properties can be named.
    package enum Command: String, CaseIterable, Sendable {
        case connect, publish, subscribe, unsubscribe, disconnect, auth, will
        case puback, pubrec, pubrel, pubcomp, suback, unsuback
    }

    /// Those of CONNECT.
    package struct Connect: Sendable {
        package var receiveMaximum: UInt16?
        package var maximumPacketSize: UInt32?
        package var sessionExpiry: UInt32?
        package var userProperties: [String: String] = [:]
        package var authenticationMethod: String?
        package var authenticationData: String?
    }

    package var connect = Connect()
    package var publish = MessageProperties()
    package var will = MessageProperties()
    package var willDelay = Duration.zero

    /// How many words belong to `-D`: `user-property` has two values.
    static func wordCount(_ words: ArraySlice<String>) -> Int {
        words.dropFirst().first?.lowercased() == "user-property" ? 4 : 3
    }
}

extension PropertyArguments {
    /// A property's kind of value.
    private enum Kind { case byte, short, long, variable, binary, text, pair }

    /// Names, kinds, and the packets that a client may put them into (MQTT 5.0 §2.2.2.2).
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
        "reason-string": (.text, [.puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect, .auth]),
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

    /// Takes the words behind a `-D`.
    mutating func add(_ words: [String]) throws(ArgumentError) {
        let (command, name) = (words[0], words[1])
        guard let packet = Command(rawValue: command.lowercased()) else {
            throw ArgumentError("Invalid command \(command) given in --property argument.")
        }
        guard let property = Self.known.first(where: { $0.key == name.lowercased() }) else {
            throw ArgumentError("Invalid property name \(name) given in --property argument.")
        }
        guard property.value.commands.contains(packet) else {
            throw ArgumentError("\(name) property not allowed for \(command) in --property argument.")
        }
        let value = words[2]
        let number = try Self.number(value, property.value.kind, name)
        switch packet {
        case .connect: try addToConnect(property.key, words, number)
        case .publish: try Self.add(property.key, words, number, to: &publish, command)
        case .will where property.key == "will-delay-interval": willDelay = .seconds(number)
        case .will: try Self.add(property.key, words, number, to: &will, command)
        case .subscribe, .unsubscribe, .disconnect, .auth, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback:
            throw Self.unsupported(name, command)
        }
    }

    private static func number(_ text: String, _ kind: Kind, _ name: String) throws(ArgumentError) -> Int {
        let limit: Int
        switch kind {
        case .byte: limit = 255
        case .short: limit = 65_535
        case .long, .variable: limit = Int(UInt32.max)
        case .binary, .text, .pair: return 0
        }
        let number = NumberText.whole(text)
        guard (0...limit).contains(number) else {
            throw ArgumentError("Property value (\(number)) out of range for property \(name).")
        }
        return number
    }

    private mutating func addToConnect(_ name: String, _ words: [String], _ number: Int) throws(ArgumentError) {
        switch name {
        case "session-expiry-interval": connect.sessionExpiry = UInt32(number)
        case "receive-maximum": connect.receiveMaximum = UInt16(number)
        case "maximum-packet-size": connect.maximumPacketSize = UInt32(number)
        case "authentication-method": connect.authenticationMethod = words[2]
        case "authentication-data": connect.authenticationData = words[2]
        case "user-property":
            guard connect.userProperties.updateValue(words[3], forKey: words[2]) == nil else {
                throw ArgumentError(
                    "The user property \(words[2]) is given twice for connect.", hint: "Give each name once.")
            }
        default: throw Self.unsupported(name, words[0])
        }
    }

    private static func add(
        _ name: String, _ words: [String], _ number: Int, to properties: inout MessageProperties, _ command: String
    ) throws(ArgumentError) {
        switch name {
        case "payload-format-indicator": properties.payloadFormat = number == 0 ? .unspecified : .utf8
        case "message-expiry-interval": properties.messageExpiry = .seconds(number)
        case "content-type": properties.contentType = words[2]
        case "response-topic": properties.responseTopic = words[2]
        case "correlation-data": properties.correlationData = Data(words[2].utf8)
        case "user-property": properties.userProperties.append(.init(words[2], words[3]))
        case "topic-alias":
            throw ArgumentError(
                "The property topic-alias is not supported for publish.",
                hint: "Leave it out: the client gives out topic aliases by itself.")
        default: throw unsupported(name, command)
        }
    }

    /// One of MQTT that a command line can not say here.
    private static func unsupported(_ name: String, _ command: String) -> ArgumentError {
        ArgumentError("\(name) property not supported for \(command) in --property argument.")
    }
}
