import Foundation
import GatewayClient
import HomeTypes
import Transport

@testable import HomeSDK

/// A home whose event stream is written by a test, in the JSON of the HTTP API.
final class ScriptedHome: Sendable {
    private enum Step: Sendable {
        case report(EventFollower.Report)
        case end(HomeError)
    }

    let home: Home
    var model: HomeModel { home.model }
    private let steps: AsyncStream<Step>.Continuation
    /// The cursors with which the stream was opened.
    let cursors = Locked<[String?]>([])
    private let lastID = Locked(0)

    init(_ change: (inout HomeClientConfiguration) -> Void = { _ in }) {
        var configuration = HomeClientConfiguration()
        change(&configuration)
        let (stream, steps) = AsyncStream.makeStream(of: Step.self)
        self.steps = steps
        // Nothing listens on port 9: requests fail at once.
        home = Home(
            GatewayConnection(url: "http://127.0.0.1:9", token: "none"), configuration,
            feed: Script(steps: stream, cursors: cursors))
    }

    /// What the test writes, as the model's feed.
    private struct Script: HomeModel.Feed {
        let steps: AsyncStream<Step>
        let cursors: Locked<[String?]>

        func follow(
            after cursor: String?, _ receive: @Sendable (EventFollower.Report) -> Void
        ) async throws(HomeError) {
            cursors.withLock { $0.append(cursor) }
            for await step in steps {
                switch step {
                case .report(let report): receive(report)
                case .end(let error): throw error
                }
            }
            throw .cancelled()
        }
    }

    private func id() -> String {
        lastID.withLock { last in
            last += 1
            return "log-1-\(last)"
        }
    }

    /// Sends the whole state.
    func state(_ events: [(name: String, data: String)]) {
        var events = events.map { GatewayEvent(name: $0.name, data: $0.data) }
        events[events.count - 1].id = id()
        steps.yield(.report(.update(.state(events))))
    }

    /// Sends a change.
    func change(_ event: (name: String, data: String)) {
        steps.yield(.report(.update(.change(GatewayEvent(name: event.name, id: id(), data: event.data)))))
    }

    /// Reports that the gateway does not have every change.
    func missed(_ data: String = #"{"reason":"too old"}"#) {
        steps.yield(.report(.update(.missed(GatewayEvent(name: "missed", data: data)))))
    }

    /// Reports that the stream is open again, which goes on behind the cursor.
    func connected() { steps.yield(.report(.connected)) }

    /// Reports a cut.
    func interrupted() { steps.yield(.report(.interrupted(.unavailable("cut")))) }

    /// Loses the gateway for good.
    func lose(_ error: HomeError = .unavailable("gone")) { steps.yield(.end(error)) }
}

/// JSON of the HTTP API.
enum Sample {
    static func structure(_ id: String = "s1", name: String = "Home", traits: String = "{}") -> (String, String) {
        ("structure", #"{"id":"\#(id)","name":"\#(name)","timeZone":"Europe/Berlin","traits":\#(traits)}"#)
    }

    static func room(_ id: String, name: String, structure: String = "s1") -> (String, String) {
        ("room", #"{"id":"\#(id)","name":"\#(name)","structureID":"\#(structure)"}"#)
    }

    /// A part of a device.
    struct Part {
        var types: [String]
        var traits: String
        var state = "online"
        var locality = "localPeer"
        var differing = ""
    }

    static let rootNode = Part(
        types: ["RootNodeDeviceType"],
        traits: #"{"BasicInformation":{"vendorName":"Gatehouse","vendorID":65521,"productID":32768}}"#)

    static func light(on: Bool?, level: Int? = 100, type: String = "DimmableLightDeviceType") -> Part {
        let onOff = on.map { #"{"onOff":\#($0)}"# } ?? #"{"onOff":null}"#
        let levelControl = level.map { #","LevelControl":{"currentLevel":\#($0)}"# } ?? ""
        return Part(types: [type], traits: #"{"OnOff":\#(onOff)\#(levelControl)}"#)
    }

    static func device(
        id: String = "d1", name: String = "Lamp", type: String = "DimmableLightDeviceType", room: String? = nil,
        structure: String? = "s1", state: String = "online", _ parts: [Part]
    ) -> (String, String) {
        let endpoints = parts.enumerated().map { index, part in
            let types = part.types.map { "\"\($0)\"" }.joined(separator: ",")
            return
                #"{"id":\#(index),"types":[\#(types)],"traits":\#(part.traits),"connectivityState":"\#(part.state)","#
                + #""dataSourceLocality":"\#(part.locality)","traitConnectivity":{\#(part.differing)}}"#
        }.joined(separator: ",")
        let place = (room.map { #","roomID":"\#($0)""# } ?? "") + (structure.map { #","structureID":"\#($0)""# } ?? "")
        return (
            "device",
            #"{"id":"\#(id)","name":"\#(name)","type":"\#(type)"\#(place),"isMatterDevice":false,"#
                + #""connectivityState":"\#(state)","dataSourceLocality":"localPeer","endpoints":[\#(endpoints)]}"#
        )
    }

    static func removed(_ kind: String, _ id: String) -> (String, String) {
        ("\(kind)Removed", #"{"\#(kind)ID":"\#(id)"}"#)
    }
}
