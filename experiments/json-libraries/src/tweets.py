"""Writes JSON like a response of Twitter's search: nested objects, text in several scripts, escapes, numbers, nulls.

Usage: tweets.py SEED BYTES

The same seed and size give the same bytes. Tweets are added until the size is reached, at least 20.
"""
import json
import random
import sys

WORDS = {
    "ja": "今日 明日 東京 日本 写真 電車 天気 仕事 音楽 映画 楽しい 美味しい ありがとう".split(),
    "en": "the a new today train photo music weather I'm going to see very good thanks".split(),
    "fr": "le la nouveau aujourd'hui train photo musique météo très bon merci café".split(),
}


def text(rng, language, words):
    pick = [rng.choice(WORDS[language]) for _ in range(words)]
    if rng.random() < 0.3:
        pick.append("http://t.co/%010x" % rng.getrandbits(40))
    if rng.random() < 0.2:
        pick.insert(1, '\n"%s"' % rng.choice(WORDS[language]))
    return ("" if language == "ja" else " ").join(pick)


def user(rng):
    number = rng.randrange(10_000, 3_000_000_000)
    language = rng.choice(list(WORDS))
    return {
        "id": number,
        "id_str": str(number),
        "name": text(rng, language, 2),
        "screen_name": "user_%x" % rng.getrandbits(32),
        "location": "",
        "description": text(rng, language, rng.randrange(0, 30)),
        "url": None,
        "entities": {"description": {"urls": []}},
        "protected": False,
        "followers_count": rng.randrange(20_000),
        "friends_count": rng.randrange(5_000),
        "listed_count": rng.randrange(100),
        "created_at": "Sun Aug 31 00:%02d:%02d +0000 2014" % (rng.randrange(60), rng.randrange(60)),
        "favourites_count": rng.randrange(10_000),
        "utc_offset": rng.choice([None, 32400, -18000]),
        "geo_enabled": rng.random() < 0.5,
        "verified": False,
        "statuses_count": rng.randrange(100_000),
        "lang": language,
        "profile_background_color": "%06X" % rng.getrandbits(24),
        "profile_image_url": "http://pbs.twimg.com/profile_images/%d/x_normal.jpeg" % rng.getrandbits(60),
        "default_profile": rng.random() < 0.5,
        "following": False,
    }


def tweet(rng, with_retweet=True):
    number = rng.randrange(500_000_000_000_000_000, 510_000_000_000_000_000)
    language = rng.choice(list(WORDS))
    reply = rng.choice([None, rng.randrange(10_000, 3_000_000_000)])
    made = {
        "metadata": {"result_type": "recent", "iso_language_code": language},
        "created_at": "Sun Aug 31 00:%02d:%02d +0000 2014" % (rng.randrange(60), rng.randrange(60)),
        "id": number,
        "id_str": str(number),
        "text": text(rng, language, rng.randrange(5, 25)),
        "source": '<a href="http://twitter.com/download/iphone" rel="nofollow">Twitter for iPhone</a>',
        "truncated": False,
        "in_reply_to_status_id": reply,
        "in_reply_to_status_id_str": None if reply is None else str(reply),
        "user": user(rng),
        "geo": None,
        "coordinates": None,
        "retweet_count": rng.randrange(1000),
        "favorite_count": rng.randrange(1000),
        "entities": {
            "hashtags": [{"text": rng.choice(WORDS[language]), "indices": [3, 9]}] * rng.randrange(3),
            "user_mentions": [
                {"screen_name": "user_%x" % rng.getrandbits(32), "id": rng.randrange(3_000_000_000), "indices": [0, 15]}
            ] * rng.randrange(2),
        },
        "favorited": False,
        "retweeted": False,
        "lang": language,
    }
    if with_retweet and rng.random() < 0.4:
        made["retweeted_status"] = tweet(rng, with_retweet=False)
    return made


def main():
    rng, wanted = random.Random(int(sys.argv[1])), int(sys.argv[2])
    statuses, size = [], 0
    while size < wanted or len(statuses) < 20:
        # Indented like the published file, where a quarter of the bytes are white space.
        one = json.dumps(tweet(rng), ensure_ascii=False, indent=2)
        statuses.append(one)
        size += len(one.encode())
    meta = {"count": len(statuses), "completed_in": 0.087, "max_id": 505874924095815681, "query": "%E4%B8%80"}
    sys.stdout.buffer.write(
        ('{"statuses": [\n%s\n], "search_metadata": %s}\n' % (",\n".join(statuses), json.dumps(meta))).encode()
    )


if __name__ == "__main__":
    main()
