/// A name and a value that the app adds to a packet of MQTT 5; see ``MessageProperties/UserProperty``.
public typealias UserProperty = MessageProperties.UserProperty
