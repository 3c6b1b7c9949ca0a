import DataChannels
import Foundation
import Stations
import Transport

/// What is said on the channels.
extension SessionChannels {
    /// Reports what is new to a session's channels.
    func report(_ sessionID: String) async {
        let isListening = sessions.withLock { $0[sessionID].map { !$0.open.isEmpty } ?? false }
        guard isListening, let state = await state(of: sessionID) else { return }
        let talkback = await talks.channelState(of: sessionID, deviceID: state.deviceID)
        let notes = state.notes.map(\.description)
        let messages = [
            ChannelMessage(
                .session,
                ChannelMessage.Session(
                    mediaSessionId: sessionID, state: state.isConnected ? .connected : .connecting,
                    expiresInSeconds: state.expiresInSeconds.rounded(), quality: state.quality, codecs: state.codecs,
                    notes: notes),
                identity: "\(state.isConnected) \(state.expiry) \(state.quality ?? "") \(state.codecs) \(notes)"),
            ChannelMessage(
                .camera,
                ChannelMessage.Camera(
                    deviceID: state.deviceID, state: state.cameraState, reason: state.cameraReason)),
            ChannelMessage(.talkback, talkback),
        ]
        // One reader of the changes calls this, so messages leave in their order.
        let (line, sending) = sessions.withLock { all -> ((any ChannelLine)?, [(ChannelMessage, UInt16?)]) in
            guard var entry = all[sessionID] else { return (nil, []) }
            var sending: [(ChannelMessage, UInt16?)] = []
            for message in messages {
                if entry.said[message.kind] != message.identity {
                    entry.said[message.kind] = message.identity
                    sending.append((message, nil))
                } else {
                    sending += entry.uninformed.sorted().map { (message, $0) }
                }
            }
            entry.uninformed = []
            all[sessionID] = entry
            return (entry.line, sending)
        }
        for (message, channel) in sending { line?.send(message.text, on: channel, kind: message.kind.rawValue) }
    }

    /// Handles what the host reports.
    func take(_ event: DataChannelEvent, of sessionID: String) {
        switch event {
        case .opened(let channel, _):
            change(sessionID) { entry in
                entry.open.insert(channel)
                entry.uninformed.insert(channel)
            }
            changes.add(sessionID)
        case .closed(let channel):
            change(sessionID) { entry in
                entry.open.remove(channel)
                entry.uninformed.remove(channel)
            }
        case .ended:
            change(sessionID) { entry in
                entry.open = []
                entry.uninformed = []
                entry.said = [:]
            }
        case .text(let channel, let text): take(text, on: channel, of: sessionID)
        case .binary(let channel, _):
            answer("null", .failure(.invalid("requests are texts in JSON")), on: channel, of: sessionID)
        }
    }

    private func change(_ sessionID: String, _ body: @Sendable (inout Entry) -> Void) {
        sessions.withLock { all in
            guard var entry = all[sessionID] else { return }
            body(&entry)
            all[sessionID] = entry
        }
    }

    // MARK: Requests

    private func take(_ text: String, on channel: UInt16, of sessionID: String) {
        let request: ChannelRequest
        do throws(ChannelRequest.Refusal) {
            request = try ChannelRequest(text)
        } catch {
            return answer(error.id, .failure(.invalid(error.message)), on: channel, of: sessionID)
        }
        let id = request.id
        if request.method == "getState" {
            answer(id, .success(Self.empty), on: channel, of: sessionID)
            change(sessionID) { $0.uninformed.insert(channel) }
            return changes.add(sessionID)
        }
        guard ChannelRequest.commands.contains(request.method), let body = request.body(of: sessionID) else {
            let known = ChannelRequest.commands.sorted() + ["getState"]
            return answer(id, .failure(.unknownMethod(known: known)), on: channel, of: sessionID)
        }
        let (deviceID, principal, mayRun) = sessions.withLock { all -> (String, String, Bool) in
            guard let entry = all[sessionID] else { return ("", "", false) }
            let mayRun = entry.running < Self.maximumRunning
            if mayRun { all[sessionID]?.running += 1 }
            return (entry.station.id, entry.principal, mayRun)
        }
        guard mayRun else {
            return answer(id, .failure(.tooMany(limit: Self.maximumRunning)), on: channel, of: sessionID)
        }
        let command = ChannelCommand(
            mediaSessionId: sessionID, deviceID: deviceID, principal: principal, name: request.method, parameters: body)
        let handler = handler.withLock { $0 }
        let ending = EndRequest(id: id, channel: channel)
        if command.name == "stopLiveView" { change(sessionID) { $0.endRequests.append(ending) } }
        // Each in a task of its own: one that waits for a speaker must not hold up the one that gives it up.
        Task {
            let result = await handler?(command) ?? .failure(.unavailable)
            // If the command has ended the session, its end has answered, and the channels are gone.
            self.change(sessionID) { entry in
                entry.running -= 1
                entry.endRequests.removeAll { $0 == ending }
            }
            self.answer(id, result, on: channel, of: sessionID)
        }
    }

    private func answer(
        _ id: String, _ result: Result<Data, ChannelRefusal>, on channel: UInt16, of sessionID: String
    ) {
        guard let line = sessions.withLock({ $0[sessionID]?.line }) else { return }
        Self.answer(id, result, on: channel, over: line)
    }

    static func answer(
        _ id: String, _ result: Result<Data, ChannelRefusal>, on channel: UInt16, over line: any ChannelLine
    ) {
        switch result {
        case .success(let data):
            line.send("{\"id\":\(id),\"result\":\(String(decoding: data, as: UTF8.self))}", on: channel, kind: nil)
        case .failure(let refusal):
            line.send("{\"id\":\(id),\"error\":\(ChannelMessage.text(of: refusal))}", on: channel, kind: nil)
        }
        line.recordHandled()
    }
}
