import DatagramPort
import Glibc
import STUN
import TURN
import Transport

/// Asks a STUN or TURN server once whether it serves, from a socket of its own: for advice to people. Media does not notice,
/// and an allocation that the server makes is given back at once.
package struct ServerTrial: Sendable {
    /// What the server is asked for.
    package enum Purpose: Hashable, Sendable {
        /// The address at which it sees the socket (STUN, RFC 8489).
        case reflexiveAddress
        /// An allocation (TURN, RFC 8656).
        case relaying
    }

    /// What the server has answered.
    package struct Answer: Hashable, Sendable {
        /// Where it sees the socket, or where it would relay.
        package var addresses: [TransportAddress]
        /// How long the answer took, with the connection and TLS.
        package var delay: Duration
    }

    private let server: TURNServer
    private let purpose: Purpose

    /// Prepares a trial. For ``Purpose/reflexiveAddress`` the server's credentials are not used.
    package init(of server: TURNServer, for purpose: Purpose) {
        self.server = server
        self.purpose = purpose
    }

    /// Asks now. It blocks, so it belongs on a thread of its own.
    /// - Throws: why the server does not serve; ``TURNFailure/noAnswer`` when `limit` is over.
    package func run(within limit: Duration) throws(TURNFailure) -> Answer {
        guard server.address.isUsableDestination else {
            throw .unreachable(reason: "\(server.address) is not an address of a server")
        }
        let begin = MonotonicClock.now
        let deadline = begin + limit
        let line = try TrialLine(to: server)
        try line.open(until: deadline)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        let addresses: [TransportAddress]
        switch purpose {
        case .reflexiveAddress: addresses = try ask(line, buffer, until: deadline, within: limit)
        case .relaying: addresses = try allocate(line, buffer, until: deadline)
        }
        return Answer(addresses: addresses, delay: MonotonicClock.now - begin)
    }

    private func ask(
        _ line: TrialLine, _ buffer: UnsafeMutableRawBufferPointer, until deadline: Instant, within limit: Duration
    ) throws(TURNFailure) -> [TransportAddress] {
        var timing = ReflexiveAddressFinder.Timing()
        if line.isStream {
            // What a stream carries is not sent twice.
            timing.maximumTransmissions = 1
            timing.initialRetransmission = limit
        }
        var finder = ReflexiveAddressFinder(timing: timing, random: .system)
        finder.setServers([server.address], at: MonotonicClock.now)
        var waiting: [[UInt8]] = []
        while true {
            let now = MonotonicClock.now
            while let transmit = finder.pollTransmit(into: buffer, at: now) {
                try line.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<transmit.byteCount]))
            }
            _ = finder.pollEvent()
            if let found = finder.observations.first {
                if let address = found.address { return [address] }
                switch found.failure {
                case .noAnswer?: throw .noAnswer
                case .refused(let code)?: throw .refused(code: code)
                case .unusableAddress?: throw .contradictory
                case nil: break
                }
            }
            guard now < deadline else { throw .noAnswer }
            if waiting.isEmpty {
                waiting = try line.receive(until: min(finder.nextDeadline ?? deadline, deadline))
            }
            guard !waiting.isEmpty else { continue }
            let message = waiting.removeFirst()
            let arrival = MonotonicClock.now
            _ = message.withUnsafeBytes { finder.handle($0, from: server.address, at: arrival) }
        }
    }

    private func allocate(
        _ line: TrialLine, _ buffer: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TURNFailure) -> [TransportAddress] {
        var configuration = TURNConfiguration(username: server.username, password: server.password)
        configuration.isStream = line.isStream
        var client = TURNClient(configuration: configuration, random: .system, now: MonotonicClock.now)
        let output = UnsafeRawBufferPointer(buffer)
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { input.deallocate() }
        var relayed: [TransportAddress] = []
        var waiting: [[UInt8]] = []
        while true {
            let now = MonotonicClock.now
            while let count = client.pollTransmit(into: buffer, at: now) {
                try line.send(UnsafeRawBufferPointer(rebasing: output[..<count]))
            }
            while let event = client.pollEvent() {
                switch event {
                case .allocated(let addresses): relayed = addresses
                case .failed(let failure): throw failure
                }
            }
            if !relayed.isEmpty { break }
            guard now < deadline else { throw .noAnswer }
            if waiting.isEmpty {
                waiting = try line.receive(until: min(client.nextDeadline ?? deadline, deadline))
            }
            let arrival = MonotonicClock.now
            guard !waiting.isEmpty else {
                client.handleDeadline(at: arrival)
                continue
            }
            let message = waiting.removeFirst()
            guard message.count <= input.count else { continue }
            input.copyBytes(from: message)
            _ = client.handle(UnsafeRawBufferPointer(rebasing: input[..<message.count]), at: arrival)
        }
        let now = MonotonicClock.now
        client.close(at: now)
        while let count = client.pollTransmit(into: buffer, at: now) {
            // The server has relayed. If the message is lost, the allocation ends by itself.
            try? line.send(UnsafeRawBufferPointer(rebasing: output[..<count]))
        }
        return relayed
    }
}

/// The way to a server that is tried: datagrams, or the messages of a stream.
private struct TrialLine {
    private enum Way {
        case datagrams(UDPPort, DatagramBuffers)
        case stream(TURNConnection)
    }

    private let server: TransportAddress
    private let way: Way

    /// Opens a socket, and begins to connect where the server is reached over a stream.
    init(to server: TURNServer) throws(TURNFailure) {
        self.server = server.address
        guard server.transport == .udp else {
            way = .stream(try TURNConnection(to: server))
            return
        }
        var configuration = UDPPort.Configuration()
        switch server.address.family {
        case .ipv4: configuration.ipv6Address = nil
        case .ipv6: configuration.ipv4Address = nil
        }
        configuration.receiveBufferSize = 64 << 10
        configuration.sendBufferSize = 64 << 10
        do throws(SystemCallError) {
            way = .datagrams(try UDPPort(configuration), try DatagramBuffers(capacity: 4))
        } catch {
            throw .unreachable(reason: String(cString: strerror(error.errorNumber)))
        }
    }

    /// Whether the messages go over a stream.
    var isStream: Bool {
        switch way {
        case .datagrams: false
        case .stream: true
        }
    }

    /// Waits until messages can be sent.
    func open(until deadline: Instant) throws(TURNFailure) {
        guard case .stream(let connection) = way else { return }
        while !connection.isOpen {
            guard MonotonicClock.now < deadline else { throw .noAnswer }
            // A server says nothing before it is asked.
            _ = try receive(until: deadline)
        }
    }

    func send(_ message: UnsafeRawBufferPointer) throws(TURNFailure) {
        switch way {
        case .datagrams(let port, _):
            switch port.send(message, transmit: Transmit(destination: server, byteCount: message.count)) {
            case .sent, .blocked: return
            case .refused: throw .unreachable(reason: "this machine has no address to send from")
            case .dropped(let error): throw .unreachable(reason: String(cString: strerror(error)))
            }
        case .stream(let connection):
            try connection.send(message)
            try connection.flush()
        }
    }

    /// Waits for messages from the server; none when `time` has come, or when something else has happened.
    func receive(until time: Instant) throws(TURNFailure) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        switch way {
        case .datagrams(let port, let buffers):
            guard let descriptor = port.descriptors.first?.descriptor,
                Self.wait(for: POLLIN, of: descriptor, until: time),
                let batch = port.receive(server.family, into: buffers)
            else { return [] }
            for datagram in batch where datagram.source == server { messages.append(Array(datagram.bytes)) }
        case .stream(let connection):
            let events = connection.wantsToWrite ? POLLIN | POLLOUT : POLLIN
            guard Self.wait(for: events, of: connection.descriptor, until: time) else { return [] }
            try connection.advance { messages.append(Array($0)) }
        }
        return messages
    }

    private static func wait(for events: Int32, of descriptor: Int32, until time: Instant) -> Bool {
        let left = max(0, (time - MonotonicClock.now).wholeNanoseconds)
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&entry, 1, Int32(clamping: left / 1_000_000 + 1)) > 0
    }
}
