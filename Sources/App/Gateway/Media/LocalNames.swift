import DatagramPort
import LocalNetwork
import Logging
import Transport

extension MulticastDNSService {
    /// Starts multicast DNS as the config wants it. Without it everything else works, so a failure is only logged.
    ///
    /// The name is announced if other machines reach the page: where only this machine does, the name would lead nowhere.
    static func make(_ configuration: GatewayConfiguration, logger: Logger) -> MulticastDNSService? {
        guard case .on(let name) = configuration.network.multicastDNS else { return nil }
        let isOpen = PageAddresses(configuration, hosts: []).isOpen
        let announced = Locked<String?>(nil)
        do throws(SystemCallError) {
            return try MulticastDNSService(name: isOpen ? name : nil) { state in
                guard state.isAnnounced, let name = state.name else { return }
                let isNew = announced.withLock { last in
                    defer { last = name }
                    return last != name
                }
                guard isNew else { return }
                // The thread must not wait for the log.
                Task {
                    logger.notice(
                        state.isRenamed
                            ? "another machine has the gateway's name in the local network; the gateway uses another"
                            : "the gateway has a name in the local network", metadata: ["name": "\(name)"])
                }
            }
        } catch {
            logger.warning("multicast DNS does not work", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Looks names up for the sessions.
    var lookUp: @Sendable (_ name: String, _ found: @escaping @Sendable (TransportAddress?) -> Void) -> Void {
        { name, found in self.resolve(name, found) }
    }

    /// The metrics of multicast DNS, for Prometheus.
    var metrics: [MetricFamily] {
        let state = state
        func family(_ name: String, _ help: String, _ value: Int, _ kind: MetricFamily.Kind = .counter) -> MetricFamily
        {
            MetricFamily(name: name, help: help, kind: kind, samples: [MetricFamily.Sample(Double(value))])
        }
        return [
            family(
                "gatehouse_mdns_announced", "Whether the gateway's name is announced in the local network.",
                state.isAnnounced ? 1 : 0, .gauge),
            family(
                "gatehouse_mdns_answered_queries_total", "Queries for the gateway's name that were answered.",
                state.answeredQueries),
            family(
                "gatehouse_mdns_resolved_names_total", "Names in viewers' candidates that were resolved.",
                state.resolvedNames),
            family(
                "gatehouse_mdns_unknown_names_total", "Names in viewers' candidates that nobody has answered for.",
                state.unknownNames),
            family(
                "gatehouse_mdns_refused_names_total",
                "Names in viewers' candidates that were not asked for: of another form than browsers use, or too many at a "
                    + "time.", state.refusedNames),
            family(
                "gatehouse_mdns_unreadable_messages_total", "Messages of multicast DNS that could not be read.",
                state.unreadableMessages),
        ]
    }
}
