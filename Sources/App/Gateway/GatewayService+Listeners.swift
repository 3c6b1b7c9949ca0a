import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import NIOCore
import NIOSSL
import ServiceLifecycle

/// The listeners for HTTP and HTTPS.
extension GatewayService {
    /// An HTTP server with the API's routes.
    func application(
        scheme: String, host: String, port: Int, server: HTTPServerBuilder, _ readiness: Readiness
    ) -> Application<RouterResponder<GatewayRequestContext>> {
        Application(
            router: api.router(scheme: scheme),
            server: server,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), backlog: Self.backlog),
            onServerRunning: { [shared = self.shared, logger = self.logger] channel in
                // A listener that has closed already needs nothing.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectionAdmissionHandler(shared, logger: logger), position: .first)
                }.get()
                await readiness.oneIsReady(scheme: scheme, port: channel.localAddress?.port ?? port)
            },
            logger: self.logger)
    }

    /// The listener for HTTPS, with the config's certificate or the gateway's own.
    func httpsListener(
        _ https: GatewayConfiguration.HTTPS, _ readiness: Readiness
    ) throws -> any Service {
        let host = https.host ?? configuration.http.host
        var tls = try tlsConfiguration(https)
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["http/1.1"]
        let application = self.application(
            scheme: "https", host: host, port: https.port,
            server: try .tls(GatewayHTTPChannel.server(shared), tlsConfiguration: tls), readiness)
        return Listener(
            application: application, key: "http.https.port",
            hostKey: https.host == nil ? "http.host" : "http.https.host", address: "\(host):\(https.port)")
    }

    private func tlsConfiguration(_ https: GatewayConfiguration.HTTPS) throws -> TLSConfiguration {
        if let files = https.files {
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
                let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
                guard !chain.isEmpty else { throw StartFailure(description: "the file contains no certificate") }
                return .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            } catch {
                throw StartFailure(
                    description: "http.https: the certificate \(files.certificate) with the key \(files.privateKey) "
                        + "cannot be used (\(error)); both must be readable PEM files, the leaf certificate first")
            }
        }
        let names = configuration.media.addresses + configuration.localNames
        let made = try ServerCertificate.openOrCreate(
            in: stateDirectory, names: ServerCertificate.hostNames(additional: names))
        return .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(made.certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(made.privateKey.utf8), format: .pem)))
    }
}
