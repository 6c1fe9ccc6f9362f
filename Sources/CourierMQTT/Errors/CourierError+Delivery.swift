import CourierCore
import MQTTCodec
import MQTTEngine

extension CourierError {
    /// Creates the error for a request that the engine could not fulfill.
    ///
    /// - Parameters:
    ///   - failure: The reason that the engine reports.
    ///   - subject: The request.
    init(_ failure: EngineAction.Failure, of subject: RequestSubject) {
        switch failure {
        case .notConnected:
            self.init(
                .connectionLost,
                "\(subject) was not sent: there is no connection, "
                    + "and this kind of request does not wait for a connection."
            )
        case .connectionLost:
            self.init(.connectionLost, "\(subject) was not confirmed: the connection was lost before the answer came.")
        case .sessionLost:
            self.init(
                .connectionLost,
                "\(subject) was not confirmed, and the broker has lost the session, "
                    + "so the packet may or may not have arrived. Send the packet again if a duplicate does no harm.")
        case .dropped:
            self.init(
                .connectionLost,
                "\(subject) was dropped: the broker has lost the session, "
                    + "and the client's policy is to drop messages in flight.")
        case .expired: self.init(.messageExpired, "\(subject) was not sent, because the message expired.")
        case .quotaExceeded:
            self.init(
                .queueFull,
                "\(subject) was not sent: the broker has to acknowledge other packets first. Try again later.")
        case .notEncodable(let error): self.init(notEncodable: error, subject)
        case .notSupportedByServer(let code): self.init(refused: code, [], subject)
        }
    }

    /// Creates the error for a message or topic filter that the broker refused. Returns `nil` if the code is not a
    /// refusal.
    ///
    /// - Parameters:
    ///   - code: The code of PUBACK, PUBREC, PUBCOMP, or of one filter in SUBACK or UNSUBACK.
    ///   - properties: The properties of that packet.
    ///   - subject: The request.
    init?(_ code: PacketReasonCode, _ properties: PacketProperties = [], of subject: RequestSubject) {
        guard code.isFailure else { return nil }
        self.init(refused: code, properties, subject)
    }

    private init(refused code: PacketReasonCode, _ properties: PacketProperties, _ subject: RequestSubject) {
        self.init(
            Self.isAboutCredentials(code) ? .notAuthorized : subject.refusalCode,
            "\(subject) was refused by the broker: \(ReasonCode(code))\(Self.tail(code.remedy, properties))",
            reasonCode: ReasonCode(code))
    }

    private init(notEncodable error: EncodeError, _ subject: RequestSubject) {
        let remedy =
            if case .packetTooLarge = error.violation {
                "Make the packet smaller, or raise the broker's limit."
            } else {
                "Correct the \(error.field)."
            }
        let code: Code =
            switch subject {
            case .message, .unacknowledgedMessage: error.field == .topicName ? .invalidTopicName : .invalidMessage
            case .subscription, .unsubscription: .invalidTopicFilter
            }
        self.init(code, "\(subject) cannot be sent: \(error). \(remedy)", cause: error)
    }
}
