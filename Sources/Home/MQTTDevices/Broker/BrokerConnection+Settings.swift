import CMosquitto
import Glibc

extension BrokerConnection {
    /// Gives the library what the settings say.
    /// - Throws: ``BrokerFailure`` when they cannot be used.
    func configure() throws(BrokerFailure) {
        mosquitto_threaded_set(client, true)
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, Int32(MQTT_PROTOCOL_V311))
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        if let username = settings.username {
            try Self.check(mosquitto_username_pw_set(client, username, settings.password))
        }
        if let will = settings.will {
            try Self.check(
                mosquitto_will_set(client, will.topic, Int32(will.payload.utf8.count), will.payload, 1, true))
        }
        if let tls = settings.tls {
            for file in [tls.authorities, tls.certificate, tls.privateKey].compactMap({ $0 })
            where access(file, R_OK) != 0 { throw .other("the file \(file) cannot be read") }
            let folder = tls.authorities == nil ? "/etc/ssl/certs" : nil
            try Self.check(
                mosquitto_tls_set(client, tls.authorities, folder, tls.certificate, tls.privateKey, nil))
        }
    }

    private static func check(_ code: Int32) throws(BrokerFailure) {
        guard code != Int32(MOSQ_ERR_SUCCESS.rawValue) else { return }
        throw .other(String(cString: mosquitto_strerror(code)))
    }
}
