import DatagramPort
import HomeHub
import Logging
import RTMPServer
import Signalling
import Transport

/// Takes streams that encoders and cameras publish by RTMP, as far as the config asks for it.
struct RTMPPublishing: Sendable {
    private let server: RTMPServer

    /// Starts the server; nil if the config has no section `rtmp`.
    /// - Parameters:
    ///   - publishing: what says which cameras accept publishers.
    ///   - gate: makes publishers cameras.
    ///   - publishers: who may publish.
    static func make(
        configuration: GatewayConfiguration, publishing: any PublishingServing, gate: PublishingGate,
        publishers: PublisherAccess, shared: ConnectionGuard, names: DeviceNames, logger: Logger
    ) throws -> RTMPPublishing? {
        guard let section = configuration.rtmp else { return nil }
        guard let settings = RTMPServerConfiguration(host: section.host, port: UInt16(clamping: section.port)) else {
            throw GatewayService.StartFailure(
                description: "rtmp.host: \(section.host) is not an address to listen on; use 127.0.0.1, for example")
        }
        let admission = PublisherAdmission { camera, token in
            await Self.admit(camera, token, publishing: publishing, publishers: publishers, names: names)
        }
        let server: RTMPServer
        do throws(SystemCallError) {
            server = try RTMPServer(
                settings, gate: gate, admission: admission, connections: shared.connections,
                report: { Self.take($0, refusals: shared.refusals, logger: logger) })
        } catch {
            throw GatewayService.StartFailure.starting(
                on: "\(section.host):\(section.port)", section: "rtmp", error)
        }
        logger.notice("streams can be published by RTMP", metadata: ["rtmp": "\(section.host):\(server.port)"])
        return RTMPPublishing(server: server)
    }

    /// Somebody without a token that permits it does not learn which cameras there are.
    static func admit(
        _ camera: String, _ token: String?, publishing: any PublishingServing, publishers: PublisherAccess,
        names: DeviceNames
    ) async -> Result<AdmittedPublisher, PublisherRefusal> {
        guard let token else { return .failure(.noToken) }
        let device = names.id(of: camera)
        switch publishers.judge(token: token, device: device) {
        case .unknown: return .failure(.wrongToken)
        case .forbidden(let fault): return .failure(.forbidden(fault))
        case .accepted(let principal):
            do throws(SignallingError) {
                try await publishing.requirePublishing(deviceID: device)
            } catch {
                if case .takesNoPublisher = error { return .failure(.takesNoPublisher(camera: camera)) }
                return .failure(.unknownCamera(camera))
            }
            return .success(AdmittedPublisher(deviceID: device, principal: principal))
        }
    }

    /// Ends every publisher, and tells each why.
    func stop() { server.stop() }

    /// The metrics for Prometheus.
    func metrics() async -> [MetricFamily] {
        let counters = await server.counters()
        func family(_ name: String, _ help: String, _ kind: MetricFamily.Kind, _ value: Double) -> MetricFamily {
            MetricFamily(name: "gatehouse_rtmp_\(name)", help: help, kind: kind, samples: [.init(value)])
        }
        return [
            family("connections", "Connections to the RTMP server.", .gauge, Double(counters.connections)),
            family("publishers", "Programs that publish a camera by RTMP.", .gauge, Double(counters.publishers)),
            family(
                "publishers_started_total", "Programs that began to publish a camera.", .counter,
                Double(counters.publishersStarted)),
            family("bytes_received_total", "Bytes received by RTMP.", .counter, Double(counters.bytesReceived)),
            family(
                "units_received_total", "Pictures and frames of sound received by RTMP.", .counter,
                Double(counters.unitsReceived)),
            family(
                "refused_credentials_total", "Wrong tokens at the RTMP server.", .counter,
                Double(counters.refusedCredentials)),
            family(
                "connections_refused_total", "Connections that were refused because there were too many.", .counter,
                Double(counters.connectionsRefused)),
            family(
                "processor_seconds_total", "Processor time of the RTMP server's thread.", .counter,
                server.processorTime.inSeconds),
        ]
    }

    private static func take(_ news: RTMPServerNews, refusals: SignInRefusals, logger: Logger) {
        switch news {
        case .ended(let camera, let device, let host, let program, let end, let count):
            var metadata: Logger.Metadata = ["address": "\(host)", "reason": "\(end.words)"]
            let name = device ?? camera
            if !name.isEmpty { metadata["camera"] = "\(name)" }
            if !program.isEmpty { metadata["program"] = "\(program)" }
            if count > 1 { metadata["count"] = "\(count)" }
            // Anybody can be refused as often as they like, which is not to fill the log.
            logger.log(level: device == nil ? .debug : .info, "RTMP publisher ended", metadata: metadata)
        case .leftOut(let device, let parts):
            logger.warning(
                "a part of what is published by RTMP is left out: it is not supported",
                metadata: ["camera": "\(device)", "leftOut": "\(parts.map { "\($0)" }.joined(separator: "; "))"])
        case .refused(let host):
            refusals.record(host, at: .rtmp)
        case .refusedConnection(let host, let total):
            logger.warning(
                "RTMP connections are refused, because there are too many",
                metadata: ["address": "\(host)", "refused": "\(total)"])
        }
    }
}
