/// The steps that turn the running cameras into the wanted ones, each camera separately.
public struct CameraPlan: Equatable {
    /// One camera's change.
    public enum Step: Equatable {
        /// It is no longer wanted: its sessions end.
        case remove(id: String)
        /// It is new.
        case add(CameraSettings)
        /// Its media comes from elsewhere or over another transport: the source restarts under its viewers.
        case replaceSource(CameraSettings)
        /// What its viewers negotiated may no longer hold: it restarts, and its sessions end.
        case restart(CameraSettings)
        /// Only what the home shows has changed; its media is not touched.
        case relabel(CameraSettings)

        /// The camera that is concerned.
        public var id: String {
            switch self {
            case .remove(let id): id
            case .add(let camera), .replaceSource(let camera), .restart(let camera), .relabel(let camera): camera.id
            }
        }
    }

    /// The steps. Removals come first, to make room for additions.
    public let steps: [Step]

    /// Compares the running cameras with the wanted ones.
    public init(running: [CameraSettings], wanted: [CameraSettings]) {
        let known = Dictionary(running.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let kept = Set(wanted.map(\.id))
        var steps = running.filter { !kept.contains($0.id) }.map { Step.remove(id: $0.id) }
        var seen: Set<String> = []
        for camera in wanted where seen.insert(camera.id).inserted {
            guard let before = known[camera.id] else {
                steps.append(.add(camera))
                continue
            }
            if before == camera { continue }
            if before.differsForViewers(from: camera) {
                steps.append(.restart(camera))
            } else if before.differsInSource(from: camera) {
                steps.append(.replaceSource(camera))
            } else {
                steps.append(.relabel(camera))
            }
        }
        self.steps = steps
    }
}

extension CameraSettings {
    /// Whether the media comes from elsewhere or over another transport.
    fileprivate func differsInSource(from other: Self) -> Bool {
        isElsewhere(than: other) || transport != other.transport || keepAlive != other.keepAlive
            || framesPerSecond != other.framesPerSecond || looksForSpeaker != other.looksForSpeaker
    }

    /// Whether the media comes from another address, which may be that of another camera.
    func isElsewhere(than other: Self) -> Bool { source != other.source || substream != other.substream }

    /// Whether its events come from elsewhere, or have another meaning.
    func differsInEvents(from other: Self) -> Bool {
        events != other.events || isDoorbell != other.isDoorbell || onvifSource != other.onvifSource
    }

    /// The address of a source that also delivers events.
    private var onvifSource: String? {
        guard case .onvif(let url) = source else { return nil }
        return url
    }

    /// Whether the difference affects what viewers were promised.
    fileprivate func differsForViewers(from other: Self) -> Bool {
        pull != other.pull || pullsWhileOff != other.pullsWhileOff
            || transcodesVideo != other.transcodesVideo
    }
}
