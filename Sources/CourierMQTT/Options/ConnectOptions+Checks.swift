import CourierCore
import MQTTCodec

extension ConnectOptions {
    /// Returns the same options with another client id.
    func withClientID(_ clientID: String) -> ConnectOptions {
        var options = self
        options.clientId = clientID
        return options
    }

    /// Returns the extended authentication of these options, if its data is the only difference from the options `old`.
    /// Returns `nil` if the options are equal, or if anything else differs.
    func renewedAuthentication(from old: ConnectOptions) -> ExtendedAuthentication? {
        guard let new = extendedAuthentication, let before = old.extendedAuthentication, new.method == before.method,
            new != before
        else { return nil }
        var same = self
        same.extendedAuthentication = before
        return same == old ? new : nil
    }

    /// True if there is a password without a user name, which only MQTT 5 allows.
    var hasPasswordOnly: Bool { username.isEmpty && !password.isEmpty }

    /// Checks that CONNECT of this version can carry the client id, user name and password.
    ///
    /// An empty client id is allowed only with a clean session. Without a clean session, the broker would choose a new
    /// client id for every connection, so no session could be resumed. MQTT 3.1.1 requires a clean session for an empty
    /// client id [MQTT-3.1.3-7]. In MQTT 5, every connection would leave an unused session at the broker.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration``. Its message never contains the password.
    func checkCredentials(for version: ProtocolVersionPolicy, _ texts: WireText) throws(CourierError) {
        if clientId.isEmpty, !isCleanSession {
            throw CourierError(
                .invalidConfiguration,
                "The client id is empty, so the broker cannot find the session again. "
                    + "Set an id such as \"myapp_%%%%\", or set isCleanSession.")
        }
        if clientId.isEmpty, version == .version31 {
            throw CourierError(
                .invalidConfiguration,
                "The client id is empty, which MQTT 3.1 does not allow; set an id such as \"myapp_%%%%\".")
        }
        if let problem = texts.problem(username) {
            throw CourierError(.invalidConfiguration, "The user name \(username.quoted()) \(problem).")
        }
        if password.utf8.count > WireText.limit {
            throw CourierError(
                .invalidConfiguration,
                "The password has \(password.utf8.count) bytes; at most \(WireText.limit) are allowed.")
        }
        if let extendedAuthentication {
            if let problem = texts.problem(extendedAuthentication.method) {
                throw CourierError(
                    .invalidConfiguration,
                    "The authentication method \(extendedAuthentication.method.quoted()) \(problem).")
            }
            if extendedAuthentication.data?.count ?? 0 > WireText.limit {
                throw CourierError(
                    .invalidConfiguration,
                    "The authentication data has \(extendedAuthentication.data?.count ?? 0) bytes; "
                        + "at most \(WireText.limit) bytes are allowed.")
            }
            if version.first < .v5 {
                throw CourierError(
                    .invalidConfiguration,
                    "Extended authentication is part of MQTT 5; let the client use MQTT 5, or use user name and password."
                )
            }
        }
        if hasPasswordOnly, version.first < .v5 {
            throw CourierError(
                .invalidConfiguration,
                "A password is set without a user name, which MQTT 3.1.1 does not allow [MQTT-3.1.2-22]. "
                    + "Set a user name, or let the client use MQTT 5.")
        }
    }

    /// Returns the user properties for CONNECT. The entries of ``userProperties`` come first, sorted by name, so that
    /// equal options make equal packets. The entries of ``userPropertyList`` follow in their own order.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration``. Its message never contains a property's value.
    func checkedUserProperties(_ texts: WireText) throws(CourierError) -> [Property] {
        let userProperties = self.userProperties ?? [:]
        let count = userProperties.count + userPropertyList.count
        guard count <= MessageProperties.userPropertyLimit else {
            throw CourierError(
                .invalidConfiguration,
                "There are \(count) user properties; at most \(MessageProperties.userPropertyLimit) are allowed."
            )
        }
        var properties: [Property] = []
        for (name, value) in userProperties.sorted(by: { $0.key < $1.key }) {
            if let problem = texts.problem(name) {
                throw CourierError(.invalidConfiguration, "The name of the user property \(name.quoted()) \(problem).")
            }
            if let problem = texts.problem(value) {
                throw CourierError(.invalidConfiguration, "The value of the user property \(name.quoted()) \(problem).")
            }
            properties.append(.userProperty(name: name, value: value))
        }
        if let problem = userPropertyList.problem(texts) {
            throw CourierError(.invalidConfiguration, "The CONNECT \(problem).")
        }
        return properties + userPropertyList.packetProperties
    }
}
