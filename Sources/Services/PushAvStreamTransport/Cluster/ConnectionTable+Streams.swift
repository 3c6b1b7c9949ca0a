import HomeTypes

/// The two forms in which options name streams: ids (revision 1) and lists with names (revision 2).
extension ConnectionTable {
    /// Checks the streams, chooses those that are null, and fills both forms.
    func resolveStreams(_ options: inout TransportOptions) throws(TransportFault) {
        if options.videoStreams != nil || options.audioStreams != nil {
            try checkLists(options)
        } else {
            try resolveIDs(&options)
        }
        options.fillBothForms()
    }

    private func checkLists(_ options: TransportOptions) throws(TransportFault) {
        let video = options.videoStreams ?? [], audio = options.audioStreams ?? []
        func isUnique<Value: Hashable>(_ values: [Value]) -> Bool { Set(values).count == values.count }
        guard isUnique(video.map(\.videoStreamName)), isUnique(video.map(\.videoStreamID)),
            isUnique(audio.map(\.audioStreamName)), isUnique(audio.map(\.audioStreamID))
        else { throw .repeatedStream }
        // As for files: where names differ in their case only, some file systems see one.
        let pictures = Set(video.map { $0.videoStreamName.lowercased() })
        guard pictures.isDisjoint(with: audio.map { $0.audioStreamName.lowercased() }) else {
            throw .sameStreamNames
        }
        guard !video.isEmpty || !audio.isEmpty else { throw .emptyStreamLists }
        // Names become parts of paths and file names.
        for name in video.map(\.videoStreamName) + audio.map(\.audioStreamName) {
            try Self.checkName(name)
        }
        for one in video { try requireVideo(one.videoStreamID) }
        for one in audio { try requireAudio(one.audioStreamID) }
        // A list that is accepted and of which one picture is recorded would promise what is not done.
        guard video.count <= 1, audio.count <= 1 else { throw .severalStreams }
    }

    /// A track's name may be anything of 1 to 16 bytes in Matter. Here it must be able to be a folder's name.
    private static func checkName(_ name: String) throws(TransportFault) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain, !name.hasPrefix(".") else { throw .streamName(name) }
    }

    private func resolveIDs(_ options: inout TransportOptions) throws(TransportFault) {
        if let id = options.videoStreamID {
            if let id {
                try requireVideo(id)
            } else if let chosen = streams.chosenVideo(for: options.streamUsage) {
                options.videoStreamID = .some(chosen)
            } else {
                throw .noVideoStreamYet
            }
        }
        if let id = options.audioStreamID {
            if let id {
                try requireAudio(id)
            } else if let chosen = streams.audio.first?.id {
                options.audioStreamID = .some(chosen)
            } else if streams.video.isEmpty || options.videoStreamID == nil {
                throw .noAudioStreamYet
            } else {
                // A camera without sound: the picture alone is recorded.
                options.audioStreamID = nil
            }
        }
    }

    private func requireVideo(_ id: UInt16) throws(TransportFault) {
        guard streams.video.contains(where: { $0.id == id }) else { throw .unknownVideoStream(id) }
    }

    private func requireAudio(_ id: UInt16) throws(TransportFault) {
        guard streams.audio.contains(where: { $0.id == id }) else { throw .unknownAudioStream(id) }
    }
}

extension TransportOptions {
    /// Fills the form that is absent. The first stream of a list is the one of the old form; streams of the old form are
    /// named `video` and `audio`.
    fileprivate mutating func fillBothForms() {
        if videoStreams != nil || audioStreams != nil {
            if videoStreams?.isEmpty == true { videoStreams = nil }
            if audioStreams?.isEmpty == true { audioStreams = nil }
            videoStreamID = videoStreams?.first.map { .some($0.videoStreamID) }
            audioStreamID = audioStreams?.first.map { .some($0.audioStreamID) }
        } else {
            videoStreams = (videoStreamID ?? nil).map { [.init(videoStreamName: "video", videoStreamID: $0)] }
            audioStreams = (audioStreamID ?? nil).map { [.init(audioStreamName: "audio", audioStreamID: $0)] }
        }
    }

    /// Adopts the streams of other options, in both forms.
    mutating func copyStreams(from other: TransportOptions) {
        videoStreamID = other.videoStreamID
        audioStreamID = other.audioStreamID
        videoStreams = other.videoStreams
        audioStreams = other.audioStreams
    }
}
