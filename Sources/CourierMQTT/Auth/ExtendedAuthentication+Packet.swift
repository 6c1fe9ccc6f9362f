import CourierCore
import Foundation
import MQTTCodec

extension ExtendedAuthentication {
    /// The properties for CONNECT and AUTH: the authentication method, and the authentication data if there is any.
    var properties: [Property] {
        [.authenticationMethod(method)] + (data.map { [.authenticationData(SecretBytes([UInt8]($0)))] } ?? [])
    }
}
