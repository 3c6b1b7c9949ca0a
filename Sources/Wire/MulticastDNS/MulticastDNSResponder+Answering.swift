import Transport

extension MulticastDNSResponder {
    /// An answer to the group is not repeated within this time (RFC 6762, section 6).
    private static let repetition = Duration.seconds(1)
    /// … except to a host that probes for the name.
    private static let repetitionForProbes = Duration.milliseconds(250)
    /// An answer may go to the questioner alone if the group has had it within a quarter of its life (section 5.4).
    private static let unicastWindow = Duration.seconds(Int64(MulticastDNS.addressTimeToLive / 4))
    /// How long an ordinary resolver may keep an answer, in seconds (section 6.7).
    private static let ordinaryTimeToLive: UInt32 = 10
    /// The most answers to single questioners in a second. The sender of a query may be forged.
    private static let maximumUnicast = 20

    /// Answers a query for the name.
    mutating func answer(
        _ query: MulticastDNSMessage, on link: Link, from source: TransportAddress, at now: Instant
    ) {
        let questions = query.questions.filter { $0.name == name }
        guard !questions.isEmpty, let message = response(to: questions, on: link, knowing: query.answers) else {
            return
        }
        if source.port != MulticastDNS.port {
            guard takeUnicast(at: now) else { return }
            outbox.append(ordinary(message, to: query.id, questions), on: link.id, to: source)
            answered += 1
            return
        }
        let last = lastMulticast[link.id]
        if questions.allSatisfy(\.wantsUnicast), let last, now - last < Self.unicastWindow {
            guard takeUnicast(at: now) else { return }
            outbox.append(message, on: link.id, to: source)
            answered += 1
            return
        }
        let isProbe = query.authorities.contains { $0.name == name }
        if let last, now - last < (isProbe ? Self.repetitionForProbes : Self.repetition) { return }
        lastMulticast[link.id] = now
        outbox.append(message, on: link.id)
        answered += 1
    }

    /// The answer; nil if there is nothing to say, or the questioner knows it.
    private func response(
        to questions: [DNSQuestion], on link: Link, knowing known: [DNSRecord]
    ) -> MulticastDNSMessage? {
        let all = records(on: link, timeToLive: MulticastDNS.addressTimeToLive)
        var message = MulticastDNSMessage(isResponse: true)
        message.answers = all.filter { record in questions.contains { $0.asks(for: name, record.type) } }
        message.additionals = all.filter { !message.answers.contains($0) }
        var types = DNSRecord.types(
            Set(all.map(\.type)), of: name, timeToLive: MulticastDNS.addressTimeToLive)
        types.flushesCache = true
        if message.answers.isEmpty {
            // It has no such record, and says so.
            message.answers = [types]
            return message
        }
        let unknown = message.answers.filter { record in
            !known.contains {
                $0.name == name && $0.type == record.type && $0.data == record.data
                    && $0.timeToLive >= MulticastDNS.addressTimeToLive / 2
            }
        }
        if unknown.isEmpty { return nil }
        message.answers = unknown
        message.additionals.append(types)
        return message
    }

    /// The answer as a resolver of ordinary DNS expects it (section 6.7).
    private func ordinary(
        _ message: MulticastDNSMessage, to id: UInt16, _ questions: [DNSQuestion]
    ) -> MulticastDNSMessage {
        var message = message
        message.id = id
        message.questions = Array(questions.prefix(4)).map {
            var question = $0
            question.wantsUnicast = false
            return question
        }
        func changed(_ record: DNSRecord) -> DNSRecord {
            var record = record
            record.flushesCache = false
            record.timeToLive = min(record.timeToLive, Self.ordinaryTimeToLive)
            return record
        }
        message.answers = message.answers.map(changed)
        message.additionals = message.additionals.map(changed)
        return message
    }

    private mutating func takeUnicast(at now: Instant) -> Bool {
        if now - unicast.windowStart >= .seconds(1) { unicast = (now, 0) }
        guard unicast.sent < Self.maximumUnicast else { return false }
        unicast.sent += 1
        return true
    }
}
