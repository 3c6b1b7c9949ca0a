import HomeHub
import HomeTypes
import Signalling

/// The home and its sessions in numbers. Session ids never become labels: they are secrets, and their number has no
/// bound.
enum HomeMetrics {
    static func families(
        devices: [DeviceSnapshot], sessions: [LiveViewSnapshot], watchers: Int
    ) -> [MetricFamily] {
        var families = [
            MetricFamily(
                name: "gatehouse_device_online", help: "1 while the device's source is flowing.", kind: .gauge,
                samples: devices.map { .init($0.connectivityState == .online ? 1 : 0, labels: [("device", $0.id)]) }),
            MetricFamily(
                name: "gatehouse_event_watchers", help: "Clients connected to the event stream.", kind: .gauge,
                samples: [.init(Double(watchers))]),
        ]
        func perDevice(_ name: String, _ help: String, _ value: (LiveViewSnapshot) -> Double) {
            let samples = devices.map { device in
                let sum = sessions.lazy.filter { $0.deviceID == device.id }.reduce(0) { $0 + value($1) }
                return MetricFamily.Sample(sum, labels: [("device", device.id)])
            }
            families.append(.init(name: name, help: help, kind: .gauge, samples: samples))
        }
        perDevice("gatehouse_sessions", "Live views.") { _ in 1 }
        perDevice("gatehouse_sessions_connected", "Live views with a connected viewer.") {
            $0.state == .connected ? 1 : 0
        }
        perDevice("gatehouse_sessions_talking", "Live views that hold the camera's floor.") { $0.isTalking ? 1 : 0 }
        perDevice("gatehouse_live_packets_sent", "RTP packets sent by the current live views.") {
            Double($0.statistics.packetsSent)
        }
        perDevice("gatehouse_live_bytes_sent", "RTP payload bytes sent by the current live views.") {
            Double($0.statistics.bytesSent)
        }
        perDevice("gatehouse_live_packets_retransmitted", "Packets retransmitted by the current live views.") {
            Double($0.statistics.packetsRetransmitted)
        }
        perDevice("gatehouse_live_frames_dropped", "Frames skipped for slow viewers by the current live views.") {
            Double($0.statistics.framesDropped)
        }
        perDevice(
            "gatehouse_live_refused_datagrams",
            "Datagrams from the viewers of the current live views that were refused."
        ) {
            Double($0.statistics.refusedDatagrams)
        }
        return families
    }
}
