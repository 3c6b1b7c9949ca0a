import SCTP

/// What happens on the associations.
extension DataChannelWorker {
    /// Handles what the endpoint reports.
    func takeEvents() {
        while let event = endpoint.pollEvent() {
            switch event {
            case .began(let line, let association): begin(association, of: line)
            case .restarted(let association):
                guard let line = linesByAssociation[association], let session = sessions[line] else { continue }
                sessions[line]?.table = DataChannelTable(streams: endpoint.limits.streams)
                sessions[line]?.waiting = [:]
                sessions[line]?.waitingResets = []
                session.line.handler(.ended)
            case .message(let line, let association, let stream, let identifier, let payload):
                guard linesByAssociation[association] == line else { continue }
                perform(on: line) { $0.handle(payload, stream: stream, protocolIdentifier: identifier) }
            case .reset(let association, let streams):
                guard let line = linesByAssociation[association] else { continue }
                perform(on: line) { $0.handleReset(streams) }
            case .oversized(let association): abort(association)
            case .ended(let association): end(association)
            }
        }
    }

    private func begin(_ association: SCTPAssociation, of line: SCTPLine) {
        guard let session = sessions[line], session.association == nil else {
            endpoint.abort(association)
            return
        }
        sessions[line]?.association = association
        linesByAssociation[association] = line
    }

    /// The peer keeps no limit: its channels end, and its session continues.
    func abort(_ association: SCTPAssociation) {
        counters.aborted &+= 1
        endpoint.abort(association)
        end(association)
    }

    private func end(_ association: SCTPAssociation) {
        guard let line = linesByAssociation.removeValue(forKey: association), let session = sessions[line] else {
            return
        }
        // The line stays: a peer may begin again.
        sessions[line] = Session(line: session.line, table: DataChannelTable(streams: endpoint.limits.streams))
        session.line.handler(.ended)
    }

    /// Changes a session's channels, and does what follows.
    private func perform(on line: SCTPLine, _ body: (inout DataChannelTable) -> [DataChannelTable.Step]) {
        guard var session = sessions[line] else { return }
        let steps = body(&session.table)
        sessions[line]?.table = session.table
        for step in steps {
            guard let association = sessions[line]?.association else { return }
            perform(step, on: line, session.line, association)
        }
    }

    private func perform(
        _ step: DataChannelTable.Step, on line: SCTPLine, _ channels: DataChannelLine, _ association: SCTPAssociation
    ) {
        switch step {
        case .send(let message):
            do throws(SCTPError) {
                try endpoint.send(message, association)
            } catch {
                abort(association)
            }
        case .reset(let stream):
            guard var session = sessions[line] else { return }
            session.waiting = session.waiting.filter { $0.key.channel != stream }
            session.waitingResets.insert(stream)
            sessions[line] = session
            sendWaiting(line)
        case .opened(let stream, let parameters):
            channels.handler(.opened(channel: stream, label: parameters.label))
        case .text(let stream, let bytes):
            guard channels.recordReported() <= limits.waitingMessages else {
                channels.recordHandled()
                return abort(association)
            }
            channels.handler(.text(channel: stream, String(decoding: bytes, as: UTF8.self)))
        case .binary(let stream, let bytes):
            guard channels.recordReported() <= limits.waitingMessages else {
                channels.recordHandled()
                return abort(association)
            }
            channels.handler(.binary(channel: stream, byteCount: bytes.count))
        case .closed(let stream):
            channels.handler(.closed(channel: stream))
        }
    }

    // MARK: Sending

    /// Sends a text on one channel, or on all.
    func send(_ text: [UInt8], on line: SCTPLine, channel: UInt16?, kind: String?) {
        guard let session = sessions[line], let association = session.association else { return }
        // A peer that accepts so little gets nothing (RFC 8841, section 6.1).
        if let longest = session.line.longestMessage, text.count > longest { return }
        for stream in channel.map({ [$0] }) ?? session.table.openStreams {
            guard let message = session.table.message(text: text, stream: stream) else { continue }
            if let kind, sessions[line]?.waiting[WaitingText(channel: stream, kind: kind)] != nil {
                sessions[line]?.waiting[WaitingText(channel: stream, kind: kind)] = text
                continue
            }
            do throws(SCTPError) {
                try endpoint.send(message, association)
            } catch {
                guard error == .bufferFull, let kind else { return abort(association) }
                sessions[line]?.waiting[WaitingText(channel: stream, kind: kind)] = text
            }
        }
    }

    /// Sends what has waited for room, and resets the streams that have waited for their turn.
    func sendWaiting(_ line: SCTPLine) {
        guard let session = sessions[line], let association = session.association else { return }
        for (key, text) in session.waiting {
            guard let message = session.table.message(text: text, stream: key.channel) else {
                sessions[line]?.waiting[key] = nil
                continue
            }
            do throws(SCTPError) {
                try endpoint.send(message, association)
                sessions[line]?.waiting[key] = nil
            } catch {
                if error == .bufferFull { break }
                return abort(association)
            }
        }
        for stream in session.waitingResets {
            do throws(SCTPError) {
                try endpoint.reset(stream: stream, association)
                sessions[line]?.waitingResets.remove(stream)
            } catch {
                // Another one is under way; this one follows. A stream that was never used has nothing to reset.
                if error != .resetPending { sessions[line]?.waitingResets.remove(stream) }
            }
        }
    }
}
