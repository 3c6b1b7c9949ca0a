extension BuiltInCamera {
    /// What the built-in camera shows and sounds like.
    public struct Configuration: Sendable, Hashable {
        /// The name in the picture.
        public var name: String
        /// The picture's width in pixels, even.
        public var width: Int
        /// The picture's height in pixels, even.
        public var height: Int
        /// Pictures per second.
        public var framesPerSecond: Int
        /// The upper limit of the video's bit rate, in bits per second.
        public var videoBitsPerSecond: Int
        /// The bit rate of the sound, in bits per second.
        public var audioBitsPerSecond: Int
        /// The seconds between key frames that were not requested.
        public var keyFrameSeconds: Int
        /// The pitch of the beep at the start of each second, in hertz; it can distinguish cameras.
        public var toneFrequency: Double
        /// Whether the camera has a button that can be pressed.
        public var isDoorbell: Bool
        /// Whether the camera has sound: a beep, and a speaker. A camera without it has only a picture.
        public var hasSound: Bool

        /// Describes a camera.
        public init(
            name: String, width: Int = 640, height: Int = 360, framesPerSecond: Int = 15,
            videoBitsPerSecond: Int = 500_000, audioBitsPerSecond: Int = 32_000, keyFrameSeconds: Int = 4,
            toneFrequency: Double = 440, isDoorbell: Bool = true, hasSound: Bool = true
        ) {
            self.name = name
            self.width = width
            self.height = height
            self.framesPerSecond = framesPerSecond
            self.videoBitsPerSecond = videoBitsPerSecond
            self.audioBitsPerSecond = audioBitsPerSecond
            self.keyFrameSeconds = keyFrameSeconds
            self.toneFrequency = toneFrequency
            self.isDoorbell = isDoorbell
            self.hasSound = hasSound
        }
    }
}
