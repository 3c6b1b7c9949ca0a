import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import NIOWebSocket
import PushAvStreamTransport
import SDP
import ServiceLifecycle
import Signalling
import Stations

/// What a camera shows now, for players and pages that do not use WebRTC.
extension GatewayAPI {
    /// How long a camera may take until something of it can be shown.
    static let livePatience = Duration.seconds(15)

    func addLiveStreamRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/live.mp4") { request, context in
            WebSocketHandshake.isRequested(request)
                ? try await liveSocket(request, context) : try await liveFile(request, context)
        }
        router.get("/v1/devices/:device/live.mjpeg") { request, context in
            try await liveSeries(request, context)
        }
    }

    /// A place to watch a device's live pictures without WebRTC. A loss of rights does not end it before it is registered. So
    /// the rights are checked again once it is.
    /// - Throws: `resourceExhausted` where there is none, and what ``requireStill(_:_:of:)`` throws.
    func watcher(of device: String, _ context: GatewayRequestContext) throws -> LiveWatchers.Watcher {
        let authorization = try self.authorization(context)
        let watcher = try liveWatchers.add(authorization.principal, watching: device)
        try requireStill(authorization, .view, of: device)
        return watcher
    }

    // MARK: Fragmented MP4

    /// A camera that somebody begins to watch.
    private struct Watching: Sendable {
        let station: CameraStation
        let subscription: LiveSubscription
        let watcher: LiveWatchers.Watcher

        /// The end of the answer, which comes when the right to watch does.
        func ending(on channel: any Channel) -> EndingAnswer {
            let ending = EndingAnswer(on: channel)
            watcher.whenEnded { [subscription] in
                subscription.end()
                ending.begin()
            }
            return ending
        }
    }

    private func watch(_ request: Request, _ context: GatewayRequestContext) async throws -> Watching {
        let device = try deviceID(context)
        let principal = try self.principal(context)
        let stream = try Self.stream(request.uri.queryParameters["stream"].map(String.init))
        let hasSound = try Self.flag("sound", request) ?? true
        try await hub.requireDevice(device)
        let watcher = try self.watcher(of: device, context)
        guard let live, let station = await live.station(device) else {
            throw Self.noPictures
        }
        do throws(StationError) {
            let subscription = try live.streams.watch(
                station, stream: stream, hasSound: hasSound, owner: "live stream of \(principal)")
            watcher.whenEnded { subscription.end() }
            return Watching(station: station, subscription: subscription, watcher: watcher)
        } catch {
            throw SignallingError.station(error)
        }
    }

    /// The first description of a stream, which names the codecs.
    private static func description(_ watching: Watching) async throws -> LiveDescription {
        let (station, subscription) = (watching.station, watching.subscription)
        let late = Task {
            try await Task.sleep(for: livePatience)
            subscription.end(
                .nothingToShow(camera: station.id, within: livePatience, station.snapshot.trouble))
        }
        defer { late.cancel() }
        do throws(StationError) {
            while let event = try await subscription.next() {
                if case .began(let description) = event { return description }
            }
        } catch {
            throw SignallingError.station(error)
        }
        throw HomeError.unavailable("the camera's stream has ended")
    }

    /// One file without an end. When the camera changes what it sends, the file ends, and the player asks again.
    private func liveFile(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let watching = try await watch(request, context)
        let description: LiveDescription
        do {
            description = try await Self.description(watching)
        } catch {
            watching.subscription.finish()
            throw error
        }
        return Response(
            status: .ok,
            headers: Self.liveFileHeaders(description.mediaType),
            body: ResponseBody { [channel = context.channel] writer in
                let ending = watching.ending(on: channel)
                defer {
                    ending.end()
                    withExtendedLifetime(watching) { watching.subscription.finish() }
                }
                let file = LiveFileBody(description: description, subscription: watching.subscription)
                try await withGracefulShutdownHandler {
                    try await file.send { try await writer.write($0) }
                } onGracefulShutdown: {
                    watching.subscription.end()
                }
                try await writer.finish(nil)
            })
    }

    /// The same over a WebSocket: a text that describes what follows, the header, and the chunks. When the camera changes
    /// what it sends, another description follows.
    private func liveSocket(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let watching = try await watch(request, context)
        do {
            return try await WebSocketHandshake.response(
                to: request, context, protocols: [WebSocketHandshake.ownProtocol],
                limits: WebSocketLimits(longestMessage: 1_024)
            ) { [channel = context.channel] connection in
                let ending = watching.ending(on: channel)
                defer {
                    ending.end()
                    withExtendedLifetime(watching) { watching.subscription.finish() }
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await Self.send(watching.subscription, over: connection) }
                    group.addTask {
                        // A client has nothing to say. The end of its messages is its end.
                        while try await connection.next() != nil {}
                        watching.subscription.end()
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        } catch {
            watching.subscription.finish()
            throw error
        }
    }

    private static func send(_ subscription: LiveSubscription, over connection: WebSocketConnection) async throws {
        do throws(StationError) {
            while let event = try await subscription.next() {
                do {
                    switch event {
                    case .began(let description):
                        let words = LiveStreamMessage(type: "began", mediaType: description.mediaType)
                        try await connection.send(.text(try words.text()))
                        try await connection.send(.binary(ByteBuffer(bytes: description.header)))
                    case .chunks(let chunks):
                        for chunk in chunks {
                            try subscription.check()
                            try await connection.send(.binary(ByteBuffer(bytes: chunk.bytes)))
                        }
                    // The connection has pings of its own.
                    case .silence: break
                    }
                } catch let error as StationError {
                    throw error
                } catch {
                    // The client is gone.
                    return
                }
            }
        } catch {
            connection.close(.init(.policyViolation, error.words))
        }
    }

    // MARK: Pictures

    /// A series of JPEG pictures in one answer, for `<img>` and the simplest of displays.
    private func liveSeries(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try deviceID(context)
        let width = try Self.width(request.uri.queryParameters["width"].map(String.init))
        let rate = try Self.rate(request.uri.queryParameters["rate"].map(String.init))
        try await hub.requireDevice(device)
        let watcher = try self.watcher(of: device, context)
        let pause = EndablePause()
        watcher.whenEnded { pause.end() }
        let snapshots = hub.signalling.snapshots
        // A client that may not see the camera, or asks for one that shows nothing, learns it now.
        let first = try await picture(of: device, maximumWidth: width, for: authorization(context))
        return Response(
            status: .ok,
            headers: Self.liveSeriesHeaders,
            body: ResponseBody { [channel = context.channel] writer in
                let ending = EndingAnswer(on: channel)
                watcher.whenEnded {
                    pause.end()
                    ending.begin()
                }
                defer { withExtendedLifetime(watcher) { ending.end() } }
                var picture = first
                try await withGracefulShutdownHandler {
                    repeat {
                        let due = ContinuousClock.now + .seconds(1 / rate)
                        // The right to watch may have ended while the camera took the picture.
                        guard !watcher.hasEnded else { break }
                        try picture.permit?.check()
                        try await writer.write(Self.part(picture.jpeg))
                        picture.permit?.end()
                        guard await pause.sleep(until: due) else { break }
                        picture = try await snapshots.snapshot(of: device, maximumWidth: width)
                    } while true
                } onGracefulShutdown: {
                    pause.end()
                }
                try await writer.finish(nil)
            })
    }

    private static func part(_ jpeg: [UInt8]) -> ByteBuffer {
        var part = ByteBuffer(
            string: "--\(boundary)\r\nContent-Type: image/jpeg\r\nContent-Length: \(jpeg.count)\r\n\r\n")
        part.writeBytes(jpeg)
        part.writeString("\r\n")
        return part
    }

    private static let boundary = "gatehouse"

    static let noPictures = HomeError.failedPrecondition("this device is not a camera that can be watched")

    // MARK: What an address says

    static func stream(_ text: String?) throws(HomeError) -> CameraStream {
        switch text {
        case nil, "main": return .main
        case "sub": return .sub
        default: throw .invalidArgument("stream: expected main or sub")
        }
    }

    static func flag(_ name: String, _ request: Request) throws(HomeError) -> Bool? {
        switch request.uri.queryParameters[Substring(name)] {
        case nil: return nil
        case "true", "1": return true
        case "false", "0": return false
        default: throw .invalidArgument("\(name): expected true or false")
        }
    }

    static func rate(_ text: String?) throws(HomeError) -> Double {
        guard let text else { return 2 }
        guard let rate = Double(text), (0.1...10).contains(rate) else {
            throw .invalidArgument("rate: expected pictures per second from 0.1 to 10")
        }
        return rate
    }

    // MARK: Headers

    static func liveFileHeaders(_ mediaType: String) -> HTTPFields {
        [.contentType: mediaType, .cacheControl: "no-store", unbuffered: "no"]
    }

    static let liveSeriesHeaders: HTTPFields = [
        .contentType: "multipart/x-mixed-replace; boundary=\(boundary)", .cacheControl: "no-store", unbuffered: "no",
    ]

    /// For reverse proxies that would buffer the stream.
    private static let unbuffered = HTTPField.Name("X-Accel-Buffering") ?? .from
}

/// A text of the WebSocket of a live stream.
struct LiveStreamMessage: Codable, Equatable {
    /// `began`: the header follows, then chunks.
    var type: String
    /// What `MediaSource.addSourceBuffer` takes.
    var mediaType: String?

    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
