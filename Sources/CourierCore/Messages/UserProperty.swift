/// A name and a value of the app in a packet of MQTT 5; see ``MessageProperties/UserProperty``.
public typealias UserProperty = MessageProperties.UserProperty
