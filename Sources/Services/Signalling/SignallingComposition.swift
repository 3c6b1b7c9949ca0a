import MediaRelay
import Stations

/// Live views, talks, clips, publishers and pictures over one registry of cameras, and what concerns all of them.
public struct SignallingComposition: Sendable {
    /// What clients use.
    public var services: SignallingServices {
        SignallingServices(
            views: views, talks: talks, clips: clips, publishing: publishing, snapshots: Snapshots(registry: registry),
            channels: channels)
    }

    let views: LiveViewService
    let talks: TalkFloor
    let clips: SpeakerClips
    let publishing: Publishing
    let channels: SessionChannels
    private let registry: SignallingRegistry

    /// Makes the services, without cameras.
    public init(configuration: SignallingConfiguration, relay: MediaRelay) {
        registry = SignallingRegistry(configuration: configuration, relay: relay)
        talks = TalkFloor(registry)
        clips = SpeakerClips(registry, floor: talks)
        channels = SessionChannels(registry, talks: talks)
        let views = LiveViewService(registry, talks: talks, channels: channels)
        self.views = views
        channels.setReader { [weak views] in await views?.channelState(of: $0) }
        publishing = Publishing(registry)
    }

    /// Calls `handler` when a session, a publisher or a talk starts or ends, and when a session connects.
    public func observe(_ handler: @escaping @Sendable (LiveViewChange) -> Void) {
        registry.observe(handler)
    }

    /// Ends every session, for a shutdown.
    public func endAll() async {
        await views.end(because: .shuttingDown)
        await talks.end(because: .shuttingDown)
        await publishing.end(because: .shuttingDown)
    }
}

extension SignallingComposition: StationUser {
    /// Adds a camera. One with the same identifier is replaced.
    public func add(_ station: CameraStation) async {
        registry.add(station)
    }

    /// Removes a camera. Its sessions end.
    public func remove(_ deviceID: String, because end: StationEnd = .removed) async {
        // First, so that nothing new begins.
        registry.remove(deviceID)
        await talks.end(of: deviceID, because: .cameraGone(end))
        await clips.forget(deviceID)
        await views.end(of: deviceID, because: .cameraGone(end))
        await publishing.end(of: deviceID, because: .cameraGone(end))
    }
}

/// What clients ask of live views and of the cameras' media: one service for each.
public struct SignallingServices: Sendable {
    /// Live views.
    public var views: any LiveViewServing
    /// Talks of viewers.
    public var talks: any TalkServing
    /// Sounds that are played on cameras.
    public var clips: any ClipServing
    /// Programs whose media is a camera.
    public var publishing: any PublishingServing
    /// Pictures.
    public var snapshots: any SnapshotServing
    /// The data channels of live views; nil where there are none.
    public var channels: SessionChannels?

    /// Names the services.
    public init(
        views: any LiveViewServing, talks: any TalkServing, clips: any ClipServing,
        publishing: any PublishingServing, snapshots: any SnapshotServing, channels: SessionChannels? = nil
    ) {
        self.views = views
        self.talks = talks
        self.clips = clips
        self.publishing = publishing
        self.snapshots = snapshots
        self.channels = channels
    }
}
