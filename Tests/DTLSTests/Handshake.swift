import DTLS
import SRTP
import Transport

/// The two identities of the tests, made once: a key takes a fraction of a millisecond, but there are many handshakes.
enum Identities {
    static let client = Result { try DTLSIdentity.generate() }
    static let server = Result { try DTLSIdentity.generate() }
}

extension DTLSEndpoint {
    /// ``nextDeadline``, in a form that a test macro can expand.
    var deadline: Instant? {
        nextDeadline
    }

    /// All datagrams that wait.
    mutating func drain() -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        while datagrams.count < 100, let count = buffer.withUnsafeMutableBytes({ pollTransmit(into: $0) }) {
            datagrams.append(Array(buffer[..<count]))
        }
        return datagrams
    }
}

/// A client and a server in one process, with a network between them that a test rules, in virtual time.
struct Handshake: ~Copyable {
    /// What happens to a datagram; counted from 0 in each direction.
    enum Fate {
        case deliver
        case drop
        case duplicate
        /// Arrives after so many milliseconds more than the others.
        case delay(Int)
    }

    struct InFlight {
        var bytes: [UInt8]
        var toServer: Bool
        var arrival: Instant
        var order: Int
    }

    var client: DTLSEndpoint
    var server: DTLSEndpoint
    var now = Instant(nanoseconds: 1_000_000_000)
    var latency = Duration.milliseconds(10)
    var fate: (_ toServer: Bool, _ number: Int) -> Fate = { _, _ in .deliver }
    private(set) var sent: [InFlight] = []
    private var inFlight: [InFlight] = []
    private var clientCount = 0
    private var serverCount = 0
    private var order = 0
    private(set) var steps = 0

    init(
        client: DTLSIdentity? = nil, server: DTLSIdentity? = nil, clientExpects: [DTLSFingerprint]? = nil,
        serverExpects: [DTLSFingerprint]? = nil, maximumDatagramSize: Int = 1200,
        clientProfiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80],
        serverProfiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80]
    ) throws {
        let clientIdentity = try client ?? Identities.client.get()
        let serverIdentity = try server ?? Identities.server.get()
        let clientEnd = try DTLSEndpoint(
            identity: clientIdentity, role: .client, remoteFingerprints: clientExpects ?? [serverIdentity.fingerprint],
            now: now, maximumDatagramSize: maximumDatagramSize, profiles: clientProfiles)
        let serverEnd = try DTLSEndpoint(
            identity: serverIdentity, role: .server, remoteFingerprints: serverExpects ?? [clientIdentity.fingerprint],
            now: now, maximumDatagramSize: maximumDatagramSize, profiles: serverProfiles)
        self.client = clientEnd
        self.server = serverEnd
    }

    /// What both sides have for SRTP.
    var keys: (client: SRTPKeyingMaterial?, server: SRTPKeyingMaterial?) {
        (client.keyingMaterial, server.keyingMaterial)
    }

    /// Runs until nothing is in flight and neither side waits, or until `limit` of virtual time has passed.
    mutating func run(limit: Duration = .seconds(60)) {
        let end = now + limit
        client.start(at: now)
        drain()
        while steps < 10_000 {
            steps += 1
            let arrival = inFlight.min { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
            var next = arrival?.arrival ?? .distantFuture
            if let deadline = client.nextDeadline { next = min(next, deadline) }
            if let deadline = server.nextDeadline { next = min(next, deadline) }
            guard next < .distantFuture, next <= end else { return }
            now = max(now, next)
            if let arrival, arrival.arrival <= now {
                inFlight.removeAll { $0.order == arrival.order }
                arrival.bytes.withUnsafeBytes { bytes in
                    // The thrown error is in the state as well.
                    if arrival.toServer {
                        try? server.handle(bytes, at: now)
                    } else {
                        try? client.handle(bytes, at: now)
                    }
                }
            } else {
                try? client.handleDeadline(at: now)
                try? server.handleDeadline(at: now)
            }
            drain()
        }
    }

    /// Puts a datagram on its way that none of the two has sent.
    mutating func inject(_ bytes: [UInt8], toServer: Bool) {
        order += 1
        inFlight.append(InFlight(bytes: bytes, toServer: toServer, arrival: now, order: order))
    }

    /// Frees what the network remembers.
    mutating func forgetDatagrams() {
        sent = []
        inFlight = []
    }

    private mutating func drain() {
        for datagram in client.drain() {
            send(datagram, toServer: true, number: clientCount)
            clientCount += 1
        }
        for datagram in server.drain() {
            send(datagram, toServer: false, number: serverCount)
            serverCount += 1
        }
    }

    private mutating func send(_ bytes: [UInt8], toServer: Bool, number: Int) {
        var datagram = InFlight(bytes: bytes, toServer: toServer, arrival: now + latency, order: 0)
        var copies = 1
        switch fate(toServer, number) {
        case .deliver: break
        case .drop: copies = 0
        case .duplicate: copies = 2
        case .delay(let milliseconds): datagram.arrival += .milliseconds(milliseconds)
        }
        sent.append(datagram)
        for _ in 0..<copies {
            order += 1
            datagram.order = order
            inFlight.append(datagram)
        }
    }
}
