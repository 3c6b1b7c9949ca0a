import HomeTypes

extension PartialTransportOptions {
    /// Whether they say something about streams.
    var namesStreams: Bool {
        videoStreamID != nil || audioStreamID != nil || videoStreams != nil || audioStreams != nil
    }

    /// These options without what they repeat of a connection's streams. A client that changes one field may send back all
    /// that it has read, which has both forms of the streams. Two empty lists name nothing (Matter's TC-PAVST-2.4 sends them).
    func withoutKnownStreams(_ known: TransportOptions) -> Self {
        var rest = self
        if rest.videoStreams == [], rest.audioStreams == [] { (rest.videoStreams, rest.audioStreams) = (nil, nil) }
        func repeats<Value: Equatable>(_ value: Value?, _ old: Value?) -> Bool { value == nil || value == old }
        if repeats(rest.videoStreamID, known.videoStreamID), repeats(rest.audioStreamID, known.audioStreamID) {
            (rest.videoStreamID, rest.audioStreamID) = (nil, nil)
        }
        if repeats(rest.videoStreams, known.videoStreams), repeats(rest.audioStreams, known.audioStreams) {
            (rest.videoStreams, rest.audioStreams) = (nil, nil)
        }
        return rest
    }
}

extension TransportOptions {
    /// These options with what other ones name. Lists are replaced as a whole. Streams get one of the two forms: the one
    /// that is named.
    /// - Throws: `invalidCommand` for a part that is new and incomplete.
    func merging(_ partial: PartialTransportOptions) throws(TransportFault) -> TransportOptions {
        var merged = self
        merged.streamUsage = partial.streamUsage ?? streamUsage
        merged.tlsEndpointID = partial.tlsEndpointID ?? tlsEndpointID
        merged.url = partial.url ?? url
        merged.ingestMethod = partial.ingestMethod ?? ingestMethod
        merged.expiryTime = partial.expiryTime ?? expiryTime
        if let trigger = partial.triggerOptions { merged.triggerOptions = try triggerOptions.merging(trigger) }
        if let container = partial.containerOptions {
            merged.containerOptions = try containerOptions.merging(container)
        }
        let namesIDs = partial.videoStreamID != nil || partial.audioStreamID != nil
        let namesLists = partial.videoStreams != nil || partial.audioStreams != nil
        if namesIDs {
            merged.videoStreamID = partial.videoStreamID ?? videoStreamID
            merged.audioStreamID = partial.audioStreamID ?? audioStreamID
            if !namesLists { (merged.videoStreams, merged.audioStreams) = (nil, nil) }
        }
        if namesLists {
            merged.videoStreams = partial.videoStreams ?? videoStreams
            merged.audioStreams = partial.audioStreams ?? audioStreams
            if !namesIDs { (merged.videoStreamID, merged.audioStreamID) = (nil, nil) }
        }
        return merged
    }
}

extension TransportTriggerOptions {
    fileprivate func merging(
        _ partial: Google.PushAvStreamTransportTrait.PartialTransportTriggerOptionsStruct
    ) throws(TransportFault) -> TransportTriggerOptions {
        var merged = self
        merged.triggerType = partial.triggerType ?? triggerType
        // What belongs to another kind of trigger goes, unless the new options insist on it and are refused.
        if merged.triggerType != .motion {
            (merged.motionZones, merged.motionSensitivity, merged.motionTimeControl) = (nil, nil, nil)
        }
        if merged.triggerType == .continuous { merged.maxPreRollLen = nil }
        if let zones = partial.motionZones { merged.motionZones = .some(zones) }
        if let sensitivity = partial.motionSensitivity { merged.motionSensitivity = .some(sensitivity) }
        merged.maxPreRollLen = partial.maxPreRollLen ?? merged.maxPreRollLen
        if let time = partial.motionTimeControl {
            let old = merged.motionTimeControl
            guard let initial = time.initialDuration ?? old?.initialDuration,
                let augmentation = time.augmentationDuration ?? old?.augmentationDuration,
                let maximum = time.maxDuration ?? old?.maxDuration, let blind = time.blindDuration ?? old?.blindDuration
            else {
                throw .incompleteTimeControl
            }
            merged.motionTimeControl = TransportTimeControl(
                initialDuration: initial, augmentationDuration: augmentation, maxDuration: maximum,
                blindDuration: blind)
        }
        return merged
    }
}

extension Google.PushAvStreamTransportTrait.ContainerOptionsStruct {
    fileprivate func merging(
        _ partial: Google.PushAvStreamTransportTrait.PartialContainerOptionsStruct
    ) throws(TransportFault) -> Self {
        var merged = self
        merged.containerType = partial.containerType ?? containerType
        guard let cmaf = partial.cmafContainerOptions, var old = cmafContainerOptions else { return merged }
        old.cmafInterface = cmaf.cmafInterface ?? old.cmafInterface
        old.segmentDuration = cmaf.segmentDuration ?? old.segmentDuration
        old.chunkDuration = cmaf.chunkDuration ?? old.chunkDuration
        old.sessionGroup = cmaf.sessionGroup ?? old.sessionGroup
        old.trackName = cmaf.trackName ?? old.trackName
        old.cencKey = cmaf.cencKey ?? old.cencKey
        old.cencKeyID = cmaf.cencKeyID ?? old.cencKeyID
        old.metadataEnabled = cmaf.metadataEnabled ?? old.metadataEnabled
        merged.cmafContainerOptions = old
        return merged
    }
}

extension TransportOptions {
    /// Whether a recording with other options would have the same content and go to the same place.
    func recordsLike(_ other: TransportOptions) -> Bool {
        var other = other
        (other.triggerOptions, other.expiryTime, other.streamUsage) = (triggerOptions, expiryTime, streamUsage)
        return self == other
    }
}
