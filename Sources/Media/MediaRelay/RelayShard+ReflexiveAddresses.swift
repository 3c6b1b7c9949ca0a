import STUN
import Transport

/// The addresses at which STUN servers see the media port.
///
/// All shards share the port, so one of them asks for all: the first. The marks of its transactions lead the answers to
/// it, whichever shard's socket receives them.
extension RelayShard {
    /// The shard that asks.
    static let asking = 0

    /// Exchanges the servers. `report` gets each change of what is known from them, on the shard's thread.
    func setSTUNServers(
        _ servers: [TransportAddress], at now: Instant, report: @escaping @Sendable ([ReflexiveAddress]) -> Void
    ) {
        var finder =
            self.finder
            ?? ReflexiveAddressFinder(
                mark: links.count > 1 ? UInt8(truncatingIfNeeded: index) : nil,
                random: RandomSource.derived(from: &random))
        finder.setServers(servers, at: now)
        self.finder = finder
        reportReflexiveAddresses = report
        askForReflexiveAddresses(at: now)
    }

    /// Sends the requests that are due.
    func askForReflexiveAddresses(at now: Instant) {
        while let transmit = finder?.pollTransmit(into: scratch, at: now) {
            sender.send(UnsafeRawBufferPointer(rebasing: scratch[..<transmit.byteCount]), transmit, from: nil)
        }
        scheduleAndReportReflexiveAddresses()
    }

    /// Takes a datagram that no session wants if it is a STUN server's answer.
    func takeReflexiveAddress(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant
    ) -> Bool {
        guard finder?.handle(datagram, from: source, at: now) == true else { return false }
        scheduleAndReportReflexiveAddresses()
        return true
    }

    private func scheduleAndReportReflexiveAddresses() {
        if let deadline = finder?.nextDeadline {
            deadlines.schedule(.reflexiveAddresses, at: deadline)
        } else {
            deadlines.remove(.reflexiveAddresses)
        }
        if let observations = finder?.pollEvent() { reportReflexiveAddresses(observations) }
    }
}
