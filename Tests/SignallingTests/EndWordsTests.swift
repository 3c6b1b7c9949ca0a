import Cameras
import MediaRelay
import Signalling
import Stations
import Testing

/// What viewers, publishers and talkers read when it is over.
@Suite struct EndWordsTests {
    @Test(arguments: [
        (SessionEnd.stopped, "the viewer stopped the live view"),
        (.leaseExpired, "the lease was not extended"),
        (.gaveWay, "it did not connect in time, and another view needed its place"),
        (.revoked(.off), "the camera was switched off"),
        (.revoked(.hardPrivacy), "privacy: the camera's privacy switch was turned on"),
        (.cameraGone(.removed), "the camera was removed"),
        (.cameraGone(.restarting), "the camera restarts with new settings; start the view again"),
        (.cameraGone(.unusable), "the camera cannot be used with its new settings"),
        (.relay(.viewer(.trackGone)), "the camera no longer sends this track"),
        (.shuttingDown, "the gateway is shutting down"),
    ])
    func theEndOfALiveView(_ end: SessionEnd, _ words: String) {
        #expect(end.words == words)
    }

    @Test(arguments: [
        (PublisherEnd.stopped, "the publisher has stopped"),
        (.replaced, "another publisher has taken over the camera"),
        (.sourceStopped, "the camera has been stopped or changed"),
        (.disconnected, "the connection to the publisher was closed or lost"),
        (.silent, "the publisher has sent nothing for too long"),
        (.unusable, "the publisher sent what cannot be used"),
        (.accessEnded, "the publisher's token no longer permits publishing"),
        (.revoked(.off), "the camera was switched off"),
        (.cameraGone(.removed), "the camera was removed"),
        (.relay(.goodbye), "the publisher has said goodbye"),
        (.shuttingDown, "the gateway is shutting down"),
    ])
    func theEndOfAPublisher(_ end: PublisherEnd, _ words: String) {
        #expect(end.words == words)
    }

    @Test(arguments: [
        (TalkEnd.stopped, "the talker stopped"),
        (.silent(.seconds(5)), "the talker has sent no sound for 5 s"),
        (.sessionEnded(.leaseExpired), "the lease was not extended"),
        (.clipPlayed, "the clip has ended"),
        (.clipStopped, "the clip was stopped"),
        (
            .refused(.brokenOff(.connectionClosed)),
            "the connection to the camera's speaker was lost: the camera closed the connection"
        ),
        (.noThread, "the gateway has no thread left for the talk"),
    ])
    func theEndOfATalk(_ end: TalkEnd, _ words: String) {
        #expect(end.words == words)
    }
}
