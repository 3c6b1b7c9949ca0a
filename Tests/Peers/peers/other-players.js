// The requests of players that others have written, in their order and with their headers: MediaMTX's reader, medooze's and
// Eyevinn's, and the page of Meetecho's simple-whep-server. None of their code is here.
(() => {
    const answerOf = async response => {
        if (response.status !== 201) throw new Error(`bad status code ${response.status}: ${await response.text()}`);
        return response.text();
    };

    const sectionsOf = sdp => sdp.split('\r\n').filter(line => line.startsWith('m=')).map(line => line.slice(2));
    const valueOf = (sdp, name) => sdp.split('\r\n').find(line => line.startsWith(`a=${name}:`)).slice(name.length + 3);

    // What Chromium does not offer by itself, and MediaMTX's reader adds to the section of sound.
    const withMoreCodecs = sdp => {
        const extra = ['PCMU/8000/2', 'PCMA/8000/2', 'multiopus/48000/6', 'L16/48000/2'];
        const parts = sdp.split('m=');
        const index = parts.findIndex(part => part.startsWith('audio'));
        const lines = parts[index].split('\r\n');
        const used = new Set(lines[0].split(' ').slice(3));
        const free = Array.from({length: 32}, (_, number) => String(96 + number)).filter(type => !used.has(type));
        const added = [];
        for (const codec of extra) {
            const type = free.shift();
            lines[0] += ` ${type}`;
            added.push(`a=rtpmap:${type} ${codec}`, `a=rtcp-fb:${type} transport-cc`);
        }
        lines.splice(lines.length - 1, 0, ...added);
        parts[index] = lines.join('\r\n');
        return parts.join('m=');
    };

    const patch = async (address, fragment, headers) => {
        const type = {'Content-Type': 'application/trickle-ice-sdpfrag'};
        return (await fetch(address, {method: 'PATCH', headers: {...type, ...headers}, body: fragment})).status;
    };

    // Asks for the ICE servers, offers, and sends each candidate with If-Match: *. The token is in the address.
    const mediamtx = async (connection, address) => {
        const options = await fetch(address, {method: 'OPTIONS'});
        const links = options.headers.get('Link');
        const servers = links === null ? [] : links.split(', ').map(link => link.match(/^<(.+?)>; rel="ice-server"/i)[1]);
        connection.setConfiguration({iceServers: servers.map(url => ({urls: [url]}))});
        connection.addTransceiver('video', {direction: 'recvonly'});
        connection.addTransceiver('audio', {direction: 'recvonly'});
        const candidates = [];
        const statuses = [];
        let session = null;
        const offer = await connection.createOffer();
        const description = withMoreCodecs(offer.sdp);
        const send = list => {
            let fragment = `a=ice-ufrag:${valueOf(description, 'ice-ufrag')}\r\n`
                + `a=ice-pwd:${valueOf(description, 'ice-pwd')}\r\n`;
            for (const [index, section] of sectionsOf(description).entries()) {
                const own = list.filter(candidate => candidate.sdpMLineIndex === index);
                if (!own.length) continue;
                fragment += `m=${section}\r\na=mid:${index}\r\n`;
                for (const candidate of own) fragment += `a=${candidate.candidate}\r\n`;
            }
            statuses.push(patch(session, fragment, {'If-Match': '*'}));
        };
        connection.onicecandidate = ({candidate}) => {
            if (!candidate) return;
            if (session) send([candidate]);
            else candidates.push(candidate);
        };
        await connection.setLocalDescription(offer);
        const headers = {'Content-Type': 'application/sdp'};
        const response = await fetch(address, {method: 'POST', headers, body: description});
        session = new URL(response.headers.get('location'), address).toString();
        await connection.setRemoteDescription({type: 'answer', sdp: await answerOf(response)});
        if (candidates.length) send(candidates);
        return {session, statuses: async () => Promise.all(statuses), end: () => fetch(session, {method: 'DELETE'})};
    };

    // Offers before it gathers, and sends all candidates of the first section with a bearer token and no If-Match.
    const medooze = async (connection, address, token) => {
        connection.addTransceiver('audio', {direction: 'recvonly'});
        connection.addTransceiver('video', {direction: 'recvonly'});
        const offer = await connection.createOffer();
        const bearer = {Authorization: `Bearer ${token}`};
        const response = await fetch(address, {
            method: 'POST', body: offer.sdp, headers: {'Content-Type': 'application/sdp', ...bearer},
        });
        const session = new URL(response.headers.get('location'), address);
        const answer = await answerOf(response);
        const statuses = [];
        connection.onicecandidate = ({candidate}) => {
            if (candidate && candidate.sdpMLineIndex > 0) return;
            const kind = connection.getTransceivers()[0].receiver.track.kind;
            const line = candidate ? candidate.candidate : 'end-of-candidates';
            const fragment = `a=ice-ufrag:${valueOf(offer.sdp, 'ice-ufrag')}\r\n`
                + `a=ice-pwd:${valueOf(offer.sdp, 'ice-pwd')}\r\nm=${kind} RTP/AVP 0\r\na=mid:0\r\na=${line}\r\n`;
            statuses.push(patch(session, fragment, bearer));
        };
        await connection.setLocalDescription(offer);
        await connection.setRemoteDescription({type: 'answer', sdp: answer});
        return {
            session: session.toString(), statuses: async () => Promise.all(statuses),
            end: () => fetch(session, {method: 'DELETE', headers: bearer}),
        };
    };

    // Gathers first, offers once, and deletes without a token.
    const eyevinn = async (connection, address) => {
        connection.addTransceiver('video', {direction: 'recvonly'});
        connection.addTransceiver('audio', {direction: 'recvonly'});
        await connection.setLocalDescription(await connection.createOffer());
        await new Promise(done => {
            if (connection.iceGatheringState === 'complete') return done();
            connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && done();
            setTimeout(done, 2000);
        });
        const headers = {'Content-Type': 'application/sdp'};
        const response = await fetch(address, {method: 'POST', headers, body: connection.localDescription.sdp});
        const session = new URL(response.headers.get('Location'), new URL(address).origin).toString();
        await connection.setRemoteDescription({type: 'answer', sdp: await answerOf(response)});
        return {session, statuses: async () => [], end: () => fetch(session, {method: 'DELETE'})};
    };

    // Offers with offer=true in the page's address. It sends candidates of all sections without a=mid and If-Match: those from
    // before the answer at once, each other one and the end by itself. It ends nothing. Its STUN server is Google's, and left out.
    const meetecho = async (connection, address, token) => {
        // It is made with jQuery.
        const headers = {Authorization: `Bearer ${token}`, 'X-Requested-With': 'XMLHttpRequest'};
        const statuses = [];
        const waiting = [];
        let offer = null;
        let session = null;
        const send = lines => {
            const credentials = ['ice-ufrag', 'ice-pwd'].map(name => `a=${name}:${valueOf(offer.sdp, name)}`);
            const fragment = [...credentials, 'm=audio 9 RTP/AVP 0', ...lines.map(line => `a=${line}`), ''];
            statuses.push(patch(session, fragment.join('\r\n'), headers));
        };
        connection.onicecandidate = ({candidate}) => {
            const line = candidate ? candidate.candidate : 'end-of-candidates';
            if (session) send([line]);
            else waiting.push(line);
        };
        connection.addTransceiver('audio').direction = 'recvonly';
        connection.addTransceiver('video').direction = 'recvonly';
        offer = await connection.createOffer({});
        await connection.setLocalDescription(offer);
        const type = {'Content-Type': 'application/sdp'};
        const response = await fetch(address, {method: 'POST', headers: {...type, ...headers}, body: offer.sdp});
        const answer = await answerOf(response);
        session = new URL(response.headers.get('Location'), address).toString();
        if (response.headers.get('Link') === null) throw new Error('the page stops where there is no header Link');
        await connection.setRemoteDescription({type: 'answer', sdp: answer});
        if (waiting.length) send(waiting.splice(0));
        return {session, statuses: async () => Promise.all(statuses), end: null};
    };

    window.otherPlayer = {
        async play(name, address, token) {
            const video = document.createElement('video');
            video.muted = video.autoplay = true;
            video.srcObject = new MediaStream();
            document.body.append(video);
            this.connection = new RTCPeerConnection();
            this.connection.ontrack = ({track}) => video.srcObject.addTrack(track);
            this.video = video;
            this.player = await {mediamtx, medooze, eyevinn, meetecho}[name](this.connection, address, token);
        },
        state() {
            return {width: this.video.videoWidth, time: this.video.currentTime, session: this.player.session};
        },
        statuses() { return this.player.statuses(); },
        // The status of the answer; null for a player that only closes its connection.
        async stop() {
            // Closing the connection also ends the session. A request to end it would then find nothing.
            const status = this.player.end === null ? null : (await this.player.end()).status;
            this.connection.close();
            return status;
        },
    };
})();
