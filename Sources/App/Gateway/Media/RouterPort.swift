import DatagramPort
import LocalNetwork
import Logging
import MediaRelay
import PortMapping
import Transport

extension PortMappingService {
    /// Lets the router forward the media port, if the config wants it. Without it everything else works, so a failure is only
    /// logged.
    static func make(
        _ configuration: GatewayConfiguration, relay: MediaRelay, logger: Logger
    ) -> PortMappingService? {
        guard configuration.network.mapsPort else { return nil }
        let last = Locked(PortMapping())
        do throws(SystemCallError) {
            let changed: @Sendable (PortMapping) -> Void = { mapping in
                relay.setMappedAddresses([mapping.external].compactMap { $0 })
                let previous = last.withLock { last in
                    defer { last = mapping }
                    return last
                }
                // The thread must not wait for the log.
                Task { log(mapping, after: previous, logger) }
            }
            return try PortMappingService(internalPort: relay.port.localPort, changed: changed)
        } catch {
            logger.warning("the router is not asked to forward the media port", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private static func log(_ mapping: PortMapping, after previous: PortMapping, _ logger: Logger) {
        guard let router = mapping.router?.host else { return }
        if let external = mapping.external, external != previous.external {
            logger.notice(
                "the router forwards the media port",
                metadata: ["router": "\(router)", "address": "\(external)", "protocol": "\(mapping.method.rawValue)"])
        }
        if let failure = mapping.failure, failure != previous.failure {
            logger.warning(
                "the router does not forward the media port; it is asked again later",
                metadata: ["router": "\(router)", "reason": "it \(failure)"])
        }
    }

    /// The metrics of the mapping, for Prometheus.
    var metrics: [MetricFamily] {
        [
            MetricFamily(
                name: "gatehouse_port_mapped", help: "Whether the router forwards a port to the media port.",
                kind: .gauge,
                samples: [MetricFamily.Sample(mapping.external == nil ? 0 : 1)])
        ]
    }
}
