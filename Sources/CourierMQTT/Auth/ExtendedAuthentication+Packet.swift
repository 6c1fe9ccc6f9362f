import CourierCore
import Foundation
import MQTTCodec

extension ExtendedAuthentication {
    /// Its properties in CONNECT and AUTH.
    var properties: [Property] {
        [.authenticationMethod(method)] + (data.map { [.authenticationData(SecretBytes([UInt8]($0)))] } ?? [])
    }
}
